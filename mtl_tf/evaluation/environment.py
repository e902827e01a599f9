"""The environment of a result: machine and versions."""

import importlib.metadata
import os
import platform
import sys

from mtl_tf.core import machine

_PACKAGES = ("tensorflow", "keras", "numpy", "tensorflow-datasets")


def versions() -> dict[str, str]:
    """Versions of Python, of this package and of its dependencies."""
    from mtl_tf.core.version import __version__

    installed = {"python": platform.python_version(), "mtl_tf": __version__}
    for package in _PACKAGES:
        try:
            installed[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return installed


def hardware() -> str:
    """The machine in one line: processor, cores, memory, accelerators."""
    parts = [
        _processor(),
        f"{machine.cores()} cores",
        f"{_memory_gib():.0f} GiB",
    ]
    return ", ".join(parts + _accelerators())


def _memory_gib() -> float:
    try:
        pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0.0
    return pages / 2**30


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return " ".join(line.partition(":")[2].split())
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _accelerators() -> list[str]:
    # Only if TensorFlow is loaded already, as tables must not load it.
    tensorflow = sys.modules.get("tensorflow")
    if tensorflow is None:
        return []
    devices = tensorflow.config.list_physical_devices()
    types = [d.device_type for d in devices if d.device_type != "CPU"]
    return [
        f"{types.count(device_type)} {device_type}"
        for device_type in sorted(set(types))
    ]
