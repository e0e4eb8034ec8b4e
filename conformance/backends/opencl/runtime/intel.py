"""Intel's CPU runtime from its wheels, which no OpenCL loader finds by itself.

The wheels (2026.2) put libraries into a folder that is on no search path, and register the driver under a path that
exists nowhere. So what the driver needs is loaded first, by path, and while the loader looks for platforms it is
shown where the driver is. Nothing of this outlives the look: the environment is as before, for child processes too.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Final

NAME: Final = "Intel(R) OpenCL"
"""The whole name of the platform; that of Intel's graphics begins with it."""

DISTRIBUTION: Final = "intel-opencl-rt"

DRIVER: Final = (DISTRIBUTION, "libintelocl.so")

NEEDED: Final = (
    ("intel-cmplr-lib-rt", "libintlc.so.5"),
    ("intel-cmplr-lib-rt", "libirng.so"),
    ("intel-cmplr-lib-rt", "libimf.so"),
    ("intel-cmplr-lib-rt", "libsvml.so"),
    ("tbb", "libtbb.so.12"),
)
"""Distributions and the libraries of theirs that the driver is linked with, each after those it needs itself."""

VENDORS: Final = ("OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH")
"""Variables that tell a loader where drivers are registered: whoever sets one has chosen the drivers."""

FOLDERS: Final = (Path("/etc/OpenCL/vendors"), Path(sys.prefix, "etc", "OpenCL", "vendors"))
"""Where loaders look when nothing is set: those of the system, and those of an environment of conda."""


@contextmanager
def registered() -> Iterator[str | None]:
    """While entered, a loader that looks for platforms finds Intel's too; yield why it does not, or ``None``."""
    chosen = [name for name in VENDORS if os.environ.get(name)]
    if chosen:
        yield f"{chosen[0]} is set, which says where drivers are"
        return
    try:
        driver = _loaded()
    except OSError as error:
        yield str(error)
        return
    with tempfile.TemporaryDirectory(prefix="conformance-opencl-") as folder:
        _register(driver, Path(folder))
        os.environ[VENDORS[0]] = folder
        try:
            yield None
        finally:
            del os.environ[VENDORS[0]]


def _loaded() -> Path:
    """Load what the driver needs and return its path; raise ``OSError`` saying what is missing."""
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise OSError(f"its wheels are found on x86-64 Linux, and this is {platform.machine()} {sys.platform}")
    for distribution, name in NEEDED:
        # Local to its dependents: its mathematical functions must not stand before those of other libraries.
        ctypes.CDLL(str(_library(distribution, name)))
    return _library(*DRIVER)


def _library(distribution: str, name: str) -> Path:
    try:
        listed = files(distribution) or []
    except PackageNotFoundError:
        listed = []
    for file in listed:
        path = Path(str(file.locate()))
        if file.name == name and path.exists():
            return path.resolve()
    raise FileNotFoundError(f"{name} of {distribution} is not installed")


def _register(driver: Path, folder: Path) -> None:
    """Write into ``folder`` what registers the driver, and copies of what registers all others."""
    others = [file for place in FOLDERS if place.is_dir() for file in sorted(place.glob("*.icd"))]
    for number, text in enumerate([str(driver), *(file.read_text("utf-8", "replace") for file in others)]):
        (folder / f"{number:03}.icd").write_text(text, "utf-8")
