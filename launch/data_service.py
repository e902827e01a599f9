"""A tf.data service: `python -m launch.data_service`."""

import socket
import time
from typing import TYPE_CHECKING, Any

from absl import flags, logging

from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.programs import runner

if TYPE_CHECKING:
    from mtl_tf.training.signals import StopRequest

_PORT = 5000
_LOCAL = ("localhost", "127.0.0.1", "::1")
_SECONDS = 0.2


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_string(
        "dispatcher",
        None,
        "HOST:PORT of the dispatcher that this worker joins. If not given, "
        "this process is a dispatcher",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "port",
        None,
        f"port to listen on. If not given: {_PORT} for a dispatcher, any free "
        "port for a worker",
        lower_bound=0,
        upper_bound=2**16 - 1,
        flag_values=values,
    )
    flags.DEFINE_string(
        "host",
        None,
        "name of this machine under which a training reaches this worker. If "
        "not given: the name of the machine, or localhost if the dispatcher "
        "is there, too",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> None:
    """Serves until a signal comes."""
    from mtl_tf.training.signals import stop_requests

    with stop_requests() as stop:
        if values.dispatcher:
            _wait_for(_address(values.dispatcher), stop)
        if not stop:
            server = _server(values)
            _wait(stop)
            # The servers of TensorFlow have no public way to end.
            server._stop()
    logging.info("The data service has stopped here.")


def _wait_for(address: tuple[str, int], stop: "StopRequest") -> None:
    """Waits for a dispatcher, which may be started later."""
    if not _answers(address):
        logging.info("Waiting for the dispatcher at %s:%d.", *address)
    while not stop and not _answers(address):
        time.sleep(_SECONDS)


def _wait(stop: "StopRequest") -> None:
    while not stop:
        time.sleep(_SECONDS)


def _answers(address: tuple[str, int]) -> bool:
    try:
        with socket.create_connection(address, timeout=1):
            return True
    except OSError:
        return False


def _server(values: flags.FlagValues) -> Any:
    """Starts a worker or a dispatcher, and says where it is."""
    import tensorflow as tf

    start = _worker if values.dispatcher else _dispatcher
    try:
        server, message = start(values, tf.data.experimental.service)
    except (RuntimeError, tf.errors.OpError) as error:
        reason = str(error).splitlines()[0]
        port = _PORT if values.port is None else values.port
        raise RunError(f"--port={port}: cannot listen there ({reason})")
    print(message, flush=True)
    return server


def _dispatcher(values: flags.FlagValues, service: Any) -> tuple[Any, str]:
    port = _PORT if values.port is None else values.port
    server = service.DispatchServer(service.DispatcherConfig(port=port))
    port = server.target.rpartition(":")[2]
    host = values.host or socket.gethostname()
    return server, f"dispatcher at grpc://{host}:{port}"


def _worker(values: flags.FlagValues, service: Any) -> tuple[Any, str]:
    host, port = _address(values.dispatcher)
    this_host = "localhost" if host in _LOCAL else socket.gethostname()
    config = service.WorkerConfig(
        dispatcher_address=f"{host}:{port}",
        # The server puts its port there.
        worker_address=f"{values.host or this_host}:%port%",
        port=values.port or 0,
    )
    server = service.WorkerServer(config)
    return server, f"worker at {server._address} of grpc://{host}:{port}"


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.removeprefix("grpc://").rpartition(":")
    if not host or not port.isdigit():
        raise ConfigError(f"--dispatcher must be HOST:PORT, got {text!r}")
    return host, int(port)


PROGRAM = runner.Program(
    name="data_service",
    summary="""
    Runs the dispatcher or a worker of a tf.data service until Ctrl-C or
    SIGTERM. A training with config.pipeline.service lets the workers make its
    batches. The workers must see the training's model_dir under the same path.

    The service has no authentication: run it only in networks that you trust
    (docs/large_data.md).
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("The dispatcher, on a machine called data1", "--port=5000"),
        ("A worker, on this or another machine", "--dispatcher=data1:5000"),
    ),
)


def run() -> None:
    """Entry point of `mtl-data-service`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
