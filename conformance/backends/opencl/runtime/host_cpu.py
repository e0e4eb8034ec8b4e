"""PoCL on a CPU younger than its compiler.

PoCL asks LLVM for the name of the host CPU and hands the answer back as the target of every build. For a CPU
that LLVM does not know the answer is ``generic``, which clang refuses, so no program builds on any newer machine
(pocl/pocl issue 1049; seen with PoCL 3.0, LLVM 14 on an AMD family 26). PoCL 3.0 has no option for it, so
the target is corrected where PoCL keeps it: one pointer in its record of each device, before any context exists.
Nothing is changed on a CPU that LLVM knows.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

TARGET: Final = ctypes.create_string_buffer(b"x86-64-v3")
"""AVX2 and FMA, without the wider vectors that some of its successors lack; kept alive for PoCL to point at."""

PLAIN: Final = ctypes.create_string_buffer(b"x86-64")

RECORD: Final = 1024
"""Bytes of PoCL 3.0's device record; the pointer was seen at byte 640."""


def retarget(devices: Sequence[Any]) -> str | None:
    """Give devices whose build target is ``generic`` one that clang knows; return it, or ``None`` when none was wrong.

    Memory is read through the kernel, so a value that only looks like a pointer is harmless. Elsewhere than on
    x86-64 Linux nothing is done.
    """
    if platform.machine() != "x86_64" or not Path("/proc/self/mem").exists():
        return None
    target = TARGET if _has_avx2() else PLAIN
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    try:
        places = [place for device in devices if (place := _generic(memory, device.int_ptr)) is not None]
    finally:
        os.close(memory)
    for place in places:
        ctypes.c_uint64.from_address(place).value = ctypes.addressof(target)
    return target.value.decode() if places else None


def _generic(memory: int, record: int) -> int | None:
    """Return the address of the first pointer in ``record`` to the string ``generic``."""
    words = os.pread(memory, RECORD, record)
    for place in range(0, len(words) - 7, 8):
        (pointer,) = struct.unpack_from("<Q", words, place)
        if 4096 <= pointer < 2**47:
            try:
                text = os.pread(memory, 8, pointer)
            except OSError:
                continue
            if text == b"generic\0":
                return record + place
    return None


def _has_avx2() -> bool:
    with Path("/proc/cpuinfo").open(encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("flags"):
                return {"avx2", "fma", "bmi2"} <= set(line.split())
    return False
