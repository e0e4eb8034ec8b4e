"""How much the caches hold.

PoCL says what the last cache holds, which all cores share (32 MiB on two cores of an AMD EPYC). Intel's CPU runtime
says what the second one does, which each core has (1 MiB). With that taken for the whole, results of 1 and 4 MiB a rank
are stored past caches that would have held them. Measured on those two cores (Intel's runtime 2026.2, 4 ranks, medians
of 60 runs in turn, microseconds; held: three quarters of what the caches are taken to hold, in MiB):

    held                 0.75     24
    all_reduce, 1 MiB     192    110
    all_gather, 1 MiB     185     73
    all_to_all, 1 MiB     187    113
    all_reduce, 4 MiB     656    439
    all_gather, 4 MiB     642    251
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pyopencl as cl

CORE: Final = Path("/sys/devices/system/cpu/cpu0/cache")
"""Where Linux tells of the caches of the first core, those that it shares among them."""

UNITS: Final = {"K": 2**10, "M": 2**20, "G": 2**30}


def cached_bytes(device: cl.Device, core: Path = CORE) -> int:
    """Return the bytes that the largest cache of ``device`` holds: of a CPU's, what Linux says where that is more."""
    said = int(device.global_mem_cache_size)
    if not device.type & cl.device_type.CPU:
        return said
    return max((said, *(_bytes(each.read_text().strip()) for each in core.glob("index*/size"))))


def _bytes(text: str) -> int:
    """Return what a size such as ``32768K`` is."""
    return int(text[:-1]) * UNITS[text[-1]] if text[-1:] in UNITS else int(text)
