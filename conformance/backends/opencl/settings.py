"""What may be tuned, as one frozen value: tests and the suite reach below, at and above every threshold."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

Algorithm = Literal["naive", "ring", "direct"]
ALGORITHMS: Final[tuple[Algorithm, ...]] = get_args(Algorithm)

DeviceKind = Literal["basic", "pthread"]
DEVICE_KINDS: Final[tuple[DeviceKind, ...]] = get_args(DeviceKind)

FORCE: Final = "CONFORMANCE_OPENCL_ALGORITHM"
PLATFORM: Final = "CONFORMANCE_OPENCL_PLATFORM"
DEVICES: Final = "CONFORMANCE_OPENCL_DEVICES"


@dataclass(frozen=True)
class Settings:
    """How collectives are lowered and where they run.

    ``force`` takes one algorithm wherever it applies. Otherwise a reduction of at least ``ring_from`` elements a
    rank in a group of at least ``ring_members`` runs on the ring, and everything else sharded-direct.

    ``ring_from`` is out of reach by default: sharded-direct was 3 to 9 times as fast (float32 sum over 4 ranks, 4 KiB
    to 4 MiB, PoCL on two cores), and the ring associates differently, so taking it must be asked for.
    """

    force: Algorithm | None = None
    ring_from: int = 2**62
    ring_members: int = 3
    platform: str = "Portable Computing Language"
    devices: DeviceKind = "basic"
    device_count: int = 8
    programs: int = 64

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a word outside its vocabulary or a number below one."""
        if self.force is not None and self.force not in ALGORITHMS:
            raise ValueError(f"unknown algorithm {self.force!r}; known are {', '.join(ALGORITHMS)}")
        if self.devices not in DEVICE_KINDS:
            raise ValueError(f"unknown kind of device {self.devices!r}; known are {', '.join(DEVICE_KINDS)}")
        for name in ("ring_from", "ring_members", "device_count", "programs"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")


def from_environment(environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings the environment asks for; raise ``ValueError`` for a value outside its vocabulary."""
    given = {"force": environ.get(FORCE), "platform": environ.get(PLATFORM), "devices": environ.get(DEVICES)}
    return Settings(**{name: value for name, value in given.items() if value})  # type: ignore[arg-type]
