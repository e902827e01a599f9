"""Runs a SavedModel in TensorFlow's C loader, the one TensorFlow Serving uses.

This file stands alone: it imports neither TensorFlow's Python package nor Keras
nor any module of this project. So what works here works in a server. Run it as
a script in its own process:

    python c_loader.py MODEL_DIRECTORY < requests.json > answers.json

Requests: a list of `{"signature": name, "inputs": {name: [strings]}}`.
Answers: a list of `{"outputs": {name: nested lists}}`, in the same order.
"""

import ctypes
import importlib.util
import json
import os
import struct
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

_STRING = 7  # tensorflow.DataType.DT_STRING
_NUMBERS = {
    1: np.float32,
    2: np.float64,
    3: np.int32,
    9: np.int64,
    10: np.bool_,
}
_STRING_BYTES = 24  # sizeof(TF_TString)
# Ops that are not TensorFlow's own -> their file in a package. TensorFlow
# Serving has those of TF-Text built in.
_LIBRARIES = {
    op: ("tensorflow_text", f"python/ops/{name}.so")
    for op, name in (
        (b"SentencepieceOp", "_sentencepiece_tokenizer"),
        # For the tokenizers of pretrained encoders.
        (b"RegexSplitWithOffsets", "_regex_split_ops"),
        (b"CaseFoldUTF8", "_normalize_ops"),
        (b"NormalizeUTF8", "_normalize_ops"),
        (b"FastWordpieceTokenizeWithOffsets", "_fast_wordpiece_tokenizer"),
    )
}
# The server runs without XLA, and so must this.
_DISABLE_XLA = "_ZN10tensorflow21DisableXlaCompilationEv"


class _Output(ctypes.Structure):
    _fields_ = [("operation", ctypes.c_void_p), ("index", ctypes.c_int)]


class _Buffer(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("deallocator", ctypes.c_void_p),
    ]


def _folder(package: str) -> str:
    """The folder of a package, which is not imported."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"the package {package} is not installed")
    return spec.submodule_search_locations[0]


def _libraries() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    folder = _folder("tensorflow")

    def load(name: str) -> ctypes.CDLL:
        return ctypes.CDLL(os.path.join(folder, name), mode=ctypes.RTLD_GLOBAL)

    return load("libtensorflow_framework.so.2"), load("libtensorflow_cc.so.2")


def _declare(framework: ctypes.CDLL, core: ctypes.CDLL) -> None:
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    for library, name, result, arguments in (
        (framework, "TF_NewStatus", pointer, []),
        (framework, "TF_GetCode", ctypes.c_int, [pointer]),
        (framework, "TF_Message", ctypes.c_char_p, [pointer]),
        (framework, "TF_NewBuffer", pointer, []),
        (core, "TF_LoadLibrary", pointer, [ctypes.c_char_p, pointer]),
        (
            framework,
            "TF_AllocateTensor",
            pointer,
            [ctypes.c_int, pointer, ctypes.c_int, size],
        ),
        (framework, "TF_TensorData", pointer, [pointer]),
        (framework, "TF_TensorType", ctypes.c_int, [pointer]),
        (framework, "TF_NumDims", ctypes.c_int, [pointer]),
        (framework, "TF_Dim", ctypes.c_int64, [pointer, ctypes.c_int]),
        (framework, "TF_DeleteTensor", None, [pointer]),
        (core, "TF_NewGraph", pointer, []),
        (core, "TF_NewSessionOptions", pointer, []),
        (
            core,
            "TF_LoadSessionFromSavedModel",
            pointer,
            [
                pointer,
                pointer,
                ctypes.c_char_p,
                pointer,
                ctypes.c_int,
                pointer,
                pointer,
                pointer,
            ],
        ),
        (
            core,
            "TF_GraphOperationByName",
            pointer,
            [pointer, ctypes.c_char_p],
        ),
        (
            core,
            "TF_SessionRun",
            None,
            [pointer, pointer]
            + [pointer, pointer, ctypes.c_int] * 2
            + [pointer, ctypes.c_int, pointer, pointer],
        ),
        (core, "TF_StringInit", None, [pointer]),
        (core, "TF_StringCopy", None, [pointer, ctypes.c_char_p, size]),
        (core, "TF_StringGetDataPointer", pointer, [pointer]),
        (core, "TF_StringGetSize", size, [pointer]),
        (core, "TF_StringDealloc", None, [pointer]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Yields the fields of a serialized protocol buffer as (number, value)."""
    position = 0

    def varint() -> int:
        nonlocal position
        value = shift = 0
        while True:
            byte = message[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while position < len(message):
        number, wire = divmod(varint(), 8)
        if wire == 0:
            yield number, varint()
            continue
        length = {1: 8, 5: 4}.get(wire) or varint()
        yield number, message[position : position + length]
        position += length


def _last_value(message: bytes, number: int) -> Any:
    values = [value for n, value in _fields(message) if n == number]
    return values[-1] if values else b""


def _map(message: bytes, number: int) -> dict[str, bytes]:
    entries = [value for n, value in _fields(message) if n == number]
    return {_last_value(e, 1).decode(): _last_value(e, 2) for e in entries}


class SavedModel:
    """A SavedModel in a session of TensorFlow's C API.

    Args:
        directory: a version directory.

    Attributes:
        signatures: by name, `{"inputs": {name: tensor}, "outputs": {...}}`.

    Raises:
        RuntimeError: TensorFlow cannot load it; the message is TensorFlow's.
    """

    def __init__(self, directory: str):
        self._framework, self._core = _libraries()
        _declare(self._framework, self._core)
        getattr(self._core, _DISABLE_XLA)()
        self._status = self._framework.TF_NewStatus()
        self._load_ops(directory)
        self._graph = self._core.TF_NewGraph()
        tags = (ctypes.c_char_p * 1)(b"serve")
        meta = self._framework.TF_NewBuffer()
        self._session = self._core.TF_LoadSessionFromSavedModel(
            self._core.TF_NewSessionOptions(),
            None,
            directory.encode(),
            tags,
            1,
            self._graph,
            meta,
            self._status,
        )
        self._check()
        buffer = ctypes.cast(meta, ctypes.POINTER(_Buffer)).contents
        meta_graph = ctypes.string_at(buffer.data, buffer.length)
        # MetaGraphDef.signature_def = 5; SignatureDef.inputs, outputs = 1, 2;
        # TensorInfo.name = 1.
        self.signatures = {
            name: {
                "inputs": {
                    k: _last_value(v, 1) for k, v in _map(body, 1).items()
                },
                "outputs": {
                    k: _last_value(v, 1) for k, v in _map(body, 2).items()
                },
            }
            for name, body in _map(meta_graph, 5).items()
            if not name.startswith("__")
        }

    def run(
        self, signature: str, inputs: dict[str, list[str]]
    ) -> dict[str, np.ndarray | list]:
        """Runs a signature on lists of strings.

        Returns:
            The outputs by name: arrays, or nested lists of strings.

        Raises:
            RuntimeError: an unknown signature or input, or TensorFlow's error.
        """
        if signature not in self.signatures:
            known = ", ".join(sorted(self.signatures))
            raise RuntimeError(f"no signature {signature!r}, only {known}")
        names = self.signatures[signature]
        if set(inputs) != set(names["inputs"]):
            raise RuntimeError(
                f"signature {signature!r} takes the inputs "
                f"{sorted(names['inputs'])}, got {sorted(inputs)}"
            )
        fed = [self._output(names["inputs"][name]) for name in inputs]
        fetched = [self._output(t) for t in names["outputs"].values()]
        tensors = [self._string_tensor(values) for values in inputs.values()]
        results = (ctypes.c_void_p * len(fetched))()
        self._core.TF_SessionRun(
            self._session,
            None,
            (_Output * len(fed))(*fed),
            (ctypes.c_void_p * len(tensors))(*tensors),
            len(fed),
            (_Output * len(fetched))(*fetched),
            results,
            len(fetched),
            None,
            0,
            None,
            self._status,
        )
        for tensor in tensors:
            self._framework.TF_DeleteTensor(tensor)
        self._check()
        return {
            name: self._value(tensor)
            for name, tensor in zip(names["outputs"], results)
        }

    def _load_ops(self, directory: str) -> None:
        """Loads the libraries of the model's ops."""
        with open(os.path.join(directory, "saved_model.pb"), "rb") as file:
            content = file.read()
        for name, (package, path) in _LIBRARIES.items():
            if name in content:
                path = os.path.join(_folder(package), path)
                self._core.TF_LoadLibrary(path.encode(), self._status)
                self._check()

    def _check(self) -> None:
        if self._framework.TF_GetCode(self._status):
            message = self._framework.TF_Message(self._status)
            raise RuntimeError(message.decode(errors="replace"))

    def _output(self, tensor: bytes) -> _Output:
        name, _, index = tensor.partition(b":")
        operation = self._core.TF_GraphOperationByName(self._graph, name)
        if not operation:
            raise RuntimeError(f"the graph has no operation {name.decode()}")
        return _Output(operation, int(index))

    def _string_tensor(self, values: list[str]) -> int:
        shape = (ctypes.c_int64 * 1)(len(values))
        size = _STRING_BYTES * len(values)
        tensor = self._framework.TF_AllocateTensor(_STRING, shape, 1, size)
        start = self._framework.TF_TensorData(tensor)
        for number, value in enumerate(values):
            # JSON carries undecodable bytes as surrogates.
            encoded = value.encode("utf-8", errors="surrogateescape")
            place = start + number * _STRING_BYTES
            self._core.TF_StringInit(place)
            self._core.TF_StringCopy(place, encoded, len(encoded))
        return tensor

    def _value(self, tensor: int) -> np.ndarray | list:
        framework, core = self._framework, self._core
        dims = framework.TF_NumDims(tensor)
        shape = [framework.TF_Dim(tensor, n) for n in range(dims)]
        start, kind = (
            framework.TF_TensorData(tensor),
            framework.TF_TensorType(tensor),
        )
        count = int(np.prod(shape))
        if kind == _STRING:
            places = [start + n * _STRING_BYTES for n in range(count)]
            flat = [
                ctypes.string_at(
                    core.TF_StringGetDataPointer(p), core.TF_StringGetSize(p)
                ).decode("utf-8", errors="replace")
                for p in places
            ]
            return np.array(flat, object).reshape(shape).tolist()
        dtype = np.dtype(_NUMBERS[kind])
        data = ctypes.string_at(start, count * dtype.itemsize)
        return np.frombuffer(data, dtype).reshape(shape).copy()


def _seconds(model: SavedModel, request: dict) -> float:
    """The duration of one request."""
    start = time.perf_counter()
    model.run(request["signature"], request["inputs"])
    return time.perf_counter() - start


def main(directory: str) -> None:
    """Answers the requests on standard input on standard output."""
    requests = json.load(sys.stdin)
    model = SavedModel(directory)
    answers = []
    for request in requests:
        outputs = model.run(request["signature"], request["inputs"])
        answer = {
            "outputs": {
                name: value if isinstance(value, list) else value.tolist()
                for name, value in outputs.items()
            }
        }
        if "rounds" in request:
            answer["seconds"] = [
                _seconds(model, request) for _ in range(request["rounds"])
            ]
        answers.append(answer)
    foreign = ("tensorflow", "keras", "mtl_tf", "keras_hub", "tensorflow_text")
    json.dump(
        {
            "answers": answers,
            "signatures": {
                name: {part: sorted(tensors) for part, tensors in s.items()}
                for name, s in model.signatures.items()
            },
            "imported": [name for name in foreign if name in sys.modules],
            "pointer_bytes": struct.calcsize("P"),
        },
        sys.stdout,
    )


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except RuntimeError as error:
        print(str(error).splitlines()[0], file=sys.stderr)
        sys.exit(1)
