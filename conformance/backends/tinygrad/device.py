"""Starting tinygrad: which device it runs on must be in the environment before it is imported."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from conformance.backends.attribution import adapter

WORLD: Final = 8
"""Devices asked for, the largest world of the specification."""

VERSIONED: Final = tuple(f"clang-{version}" for version in range(30, 14, -1))
"""Names of clang from the first version on that knows bfloat16."""

INTERPRETED: Final = "no clang here, so kernels are interpreted in Python, slowly; install clang, or set DEV"


def choice() -> tuple[str, str]:
    """Return the device to run on and why it is this one.

    ``DEV`` chooses it. Without it, it is the processor, which needs a compiler: clang, or what ``CC`` names; and where
    there is none, Python itself, which needs nothing but for a few values that tinygrad makes on the processor.
    """
    if "DEV" in os.environ:
        return os.environ["DEV"], "by the environment variable DEV"
    return ("CPU", f"compiled by {compiler()}") if shutil.which(compiler()) else ("PYTHON", INTERPRETED)


def compiler() -> str:
    """Return the name of the C compiler that tinygrad calls: what ``CC`` names, or clang.

    Where no clang has that name, the newest that has its version in the name is it, as distributions install it.
    """
    if "CC" in os.environ or shutil.which("clang"):
        return os.environ.get("CC", "clang")
    return next((name for name in VERSIONED if shutil.which(name)), "clang")


class NoCompilerError(RuntimeError):
    """The machine lacks the C compiler that tinygrad calls: of the operation that was asked for it says nothing."""


@contextmanager
def with_compiler() -> Iterator[None]:
    """Raise ``NoCompilerError``, the adapter's, where tinygrad calls a C compiler that is not there."""
    try:
        yield
    except FileNotFoundError as error:
        if error.filename != compiler():
            raise
        missing = f"tinygrad compiles this by {compiler()}, which is not installed: install clang, or name it by CC"
        with adapter():
            raise NoCompilerError(missing) from error


def start() -> tuple[str, int, str]:
    """Import tinygrad and return its device, how many of them there are, at most ``WORLD``, and why this one.

    Raise ``RuntimeError`` when none opens, ``NoCompilerError`` where that is for want of a compiler.
    """
    os.environ["DEV"], note = choice()
    if compiler() != "clang":
        os.environ["CC"] = compiler()
    # A fresh case is compiled afresh, and nothing is left on disk.
    os.environ.setdefault("CACHELEVEL", "0")
    # Its pool of compiling processes is waited for when Python ends: with 0.14.0 once for ever, on a lock nobody held.
    os.environ.setdefault("PARALLEL", "0")
    from tinygrad.device import Device

    device = str(Device.DEFAULT)
    found = 0
    while found < WORLD:
        try:
            with with_compiler():
                Device[f"{device}:{found}"]
        except NoCompilerError:
            raise
        except Exception:  # noqa: BLE001 - every runtime has its own way to say that there is no such device
            break
        found += 1
    if not found:
        raise RuntimeError(f"tinygrad cannot open {device}:0; set DEV to a device that works, such as PYTHON")
    return device, found, note


def compiled(device: str) -> bool:
    """Return whether kernels of bfloat16 compile on ``device``: clang knows the type on x86-64 from version 15 on."""
    from tinygrad.dtype import dtypes
    from tinygrad.tensor import Tensor

    try:
        (Tensor([1.0], dtype=dtypes.float32, device=f"{device}:0").cast(dtypes.bfloat16) + 1).realize()
    except Exception:  # noqa: BLE001 - whatever a compiler that does not know the type makes of it
        return False
    return True
