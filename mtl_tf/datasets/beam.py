"""Prepares a dataset with several workers, by Apache Beam.

TFDS runs Beam pipelines that builders define, but this project's builders
generate examples in Python. Here Beam's workers write parts of them
(`corpus_builder`). Workers on other hosts must see the folders under the same
paths.

The package apache-beam is imported on first use.
"""

import dataclasses
import functools
import os
from typing import TYPE_CHECKING, Any

from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, DataError

if TYPE_CHECKING:
    import apache_beam

    from mtl_tf.datasets.corpus_builder import CorpusBuilder

# Runners' options for the number of workers.
_WORKERS = ("direct_num_workers", "parallelism", "num_workers")


@dataclasses.dataclass(frozen=True)
class Beam:
    """The Beam runner and its options.

    Attributes:
        runner: the name of a runner, such as "DirectRunner".
        options: its options, "name=value", or "name" for a switch.
    """

    runner: str
    options: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuses a runner that cannot run, before anything is read.

        Raises:
            ConfigError: Beam is not installed, or lacks the runner or an
                option.
        """
        beam = _imported()
        from apache_beam.runners import runner

        try:
            runner.create_runner(self.runner)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigError(f"--beam_runner={self.runner}: {error}")
        options = self.pipeline_options()
        unknown = [
            option
            for option in self.options
            if option.partition("=")[0] not in options.get_all_options()
        ]
        if unknown:
            raise ConfigError(
                f"--beam_pipeline_options: Beam {beam.__version__} has no "
                f"option {unknown[0].partition('=')[0]!r}"
            )

    def pipeline_options(self) -> "apache_beam.options.PipelineOptions":
        """The options in Beam's form.

        Raises:
            ConfigError: an option has a wrong value.
        """
        _imported()
        from apache_beam.options.pipeline_options import PipelineOptions

        return PipelineOptions([f"--{option}" for option in self.options])

    @property
    def workers(self) -> int:
        """The number of shares in which parts are written."""
        options = dict(option.partition("=")[::2] for option in self.options)
        for name in _WORKERS:
            if options.get(name, "").isdigit() and int(options[name]):
                return int(options[name])
        return os.cpu_count() or 1

    def write_parts(self, builder: "CorpusBuilder", manual_dir: str) -> None:
        """Writes all complete parts of a builder that do not exist yet.

        Args:
            builder: a builder with a `parts_directory`.
            manual_dir: the folder of the corpus's files.

        Raises:
            DataError: a file of the corpus is wrong, or Beam fails.
        """
        if not builder.missing_parts(manual_dir):
            return
        beam = _imported()
        files.make_directory(builder.parts_directory)
        config = builder.builder_config
        write = functools.partial(
            _write_share,
            type(builder),
            config.name if config else None,
            builder.parts_directory,
            manual_dir,
            self.workers,
        )
        logging.info("%s: %d workers of Beam", builder.name, self.workers)
        try:
            with beam.Pipeline(
                self.runner, self.pipeline_options()
            ) as pipeline:
                shares = pipeline | beam.Create(range(self.workers))
                # Otherwise the runner may give all shares to one worker.
                _ = shares | beam.Reshuffle() | "Write" >> beam.Map(write)
        except Exception as error:  # whatever the runner raises
            raise DataError(
                f"{builder.name}: {self.runner} of Apache Beam failed: "
                f"{_last_line(error)}"
            )


def _write_share(
    builder_class: type["CorpusBuilder"],
    config: str | None,
    parts_directory: str,
    manual_dir: str,
    workers: int,
    worker: int,
) -> None:
    """Writes the share of one of Beam's workers."""
    builder = builder_class(data_dir=parts_directory, config=config)
    builder.parts_directory = parts_directory
    builder.write_parts(manual_dir, worker, workers)


def _imported() -> Any:
    try:
        import apache_beam
    except ImportError as error:
        raise ConfigError(
            "--beam_runner needs the package apache-beam: pip install "
            f"'mtl_tf[beam]' ({error})"
        )
    return apache_beam


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__
