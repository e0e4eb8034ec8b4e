"""What may be tuned, as one frozen value: tests and the suite reach below, at and above every threshold."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, get_args

from conformance.cases.declarations.guarantees import PRESUPPOSES, Guarantee

Algorithm = Literal["naive", "ring", "direct", "all_to_all", "tree", "one_shot"]
ALGORITHMS: Final[tuple[Algorithm, ...]] = get_args(Algorithm)

DeviceKind = Literal["basic", "pthread"]
DEVICE_KINDS: Final[tuple[DeviceKind, ...]] = get_args(DeviceKind)

OUT_OF_REACH: Final = 2**62
"""Elements that no block has."""

POCL: Final = "Portable Computing Language"
"""The name of PoCL's platform."""

FORCE: Final = "CONFORMANCE_OPENCL_ALGORITHM"
PLATFORM: Final = "CONFORMANCE_OPENCL_PLATFORM"
DEVICES: Final = "CONFORMANCE_OPENCL_DEVICES"
REUSE: Final = "CONFORMANCE_OPENCL_REUSE"
ORDER: Final = "CONFORMANCE_OPENCL_ORDER"
HELD: Final = "CONFORMANCE_OPENCL_HELD"
"""What ``Settings`` takes from the environment, each by its name."""

WITHOUT: Final = "CONFORMANCE_OPENCL_WITHOUT"
"""Names of ``OPTIMISATIONS``, with commas between them, that are off; or ``ALL``."""

ALL: Final = "all"
"""What stands for every optimisation."""

SWITCHES: Final = {"on": True, "off": False}

OPTIMISATIONS: Final[dict[str, dict[str, Any]]] = {
    "fuse": {"fuse": False},
    "fuse-reduce": {"fuse_reduce": False},
    "fuse-rows": {"fuse_rows": False},
    "merge": {"merge": False},
    "split": {"split_from": OUT_OF_REACH},
    "vectors": {"vectors": False},
    "reuse": {"reuse": False},
    "batch": {"batch_below": 0},
    "one-shot": {"one_shot_upto": 0},
    "bucket": {"bucket_upto": 0},
    "overlap": {"overlap": False},
    "in-place": {"in_place": False},
    "pool": {"pool": False},
}
"""What is done to a graph to make it faster, each with the settings under which it is not.

Values are computed within the kernels of those who need them (``fuse``), reductions too (``fuse-reduce``), also one
that serves a row of points (``fuse-rows``); kernels over the same points are one (``merge``); long reductions have two
stages (``split``); float32 is computed by vectors (``vectors``); values lie in arenas (``reuse``); small kernels of
several ranks are one command (``batch``). Small all_reduces are one-shot (``one-shot``), and one call (``bucket``);
collectives begin early, and what needs them comes late (``overlap``); they overwrite operands that nobody reads any
more (``in-place``), and operands lie in memory that lasts from one run to the next (``pool``).
"""

COMMUNICATION: Final = ("one-shot", "bucket", "overlap", "in-place", "pool")
"""Those of ``OPTIMISATIONS`` that are about collectives."""


@dataclass(frozen=True)
class Settings:
    """How collectives are lowered and where they run.

    ``force`` takes one algorithm wherever it applies. Otherwise an all_reduce of computed operands of at most
    ``one_shot_upto`` bytes each runs one-shot, and a reduction in a group of at least ``ring_members`` from
    ``ring_from``, ``all_to_all_from`` or ``tree_from`` elements a rank, the first of them that is reached, on the ring,
    by all-to-all or on the tree. Everything else runs sharded-direct.

    One-shot by default is what has one shard at most, of which one member alone would do all work. All others are out
    of reach by default. Sharded-direct was 3 to 9 times as fast as the ring (float32 sum over 4 ranks,
    4 KiB to 4 MiB, PoCL on two cores), and below one shard it is a single kernel where one-shot has one a device. The
    ring and the tree associate differently, so taking them must be asked for.

    Runs of at least ``stream_from`` elements are folded and moved by streaming kernels, which cost a compilation for
    each operation, dtypes and numbers of storages. Of what they store, as much goes past the caches as ``cached`` bytes
    do not hold beside the rest of a schedule; by default three quarters of what their caches hold.
    ``lanes`` is how many float32 a vector of the devices has, by default what they say; products are tiled by it.
    Kernels of ranks that share a device are one command while the storages that it binds have fewer elements than
    ``batch_below``; 0 is off.

    All_reduces that follow each other, of ``bucket_upto`` bytes a rank together at most, are one call if none needs
    another. With ``overlap`` a collective begins as soon as its operands are there, and what needs its result comes
    after what does not: by estimates of how long each takes, or, with a seed ``estimates``, by random ones. A sum
    overwrites a computed operand that nobody needs any more if it may be ``in_place``. With ``pool`` computed operands
    of collectives lie in memory that a plan keeps from one run to the next.

    ``reuse`` is the memory plan: what is only on the way lies in an arena of its device, values that are never needed
    at once in the same bytes, and storage given back serves again. An arena has at most ``arena`` bytes, and no more
    than the devices say a buffer may have; what needs more has several. ``order`` is a seed: items are enqueued in
    another legal order, drawn by it. Where it is ``held``, what is enqueued begins when the host waits, queue after
    queue, so that a missing wait shows (``runtime.gates``). ``profile`` lets the devices note when each item ran.

    ``platform`` is a name or part of one; without it Intel's CPU runtime is taken, else PoCL, else any other. There are
    ``queues`` in-order queues at least, so that each rank has one, shared out over the devices. Intel's has one device
    and runs the queues side by side, beside the host too: what a missing wait spoils shows in values there.

    ``devices`` is the kind of PoCL's, of which there are as many as queues; it holds for a process. A ``pthread``
    device has threads, and runs its commands beside the host and the other devices. A ``basic`` one, the default, runs
    each command when it is submitted, in 2 us where the other takes 14, and every wait is met.
    """

    force: Algorithm | None = None
    ring_from: int = OUT_OF_REACH
    all_to_all_from: int = OUT_OF_REACH
    tree_from: int = OUT_OF_REACH
    one_shot_upto: int = 128
    ring_members: int = 3
    bucket_upto: int = 2**12
    overlap: bool = True
    estimates: int | None = None
    in_place: bool = True
    pool: bool = True
    stream_from: int = 2**10
    cached: int | None = None
    fuse: bool = True
    fuse_reduce: bool = True
    fuse_rows: bool = True
    vectors: bool = True
    lanes: int | None = None
    most_computed: int = 256
    most_buffers: int = 24
    merge: bool = True
    split_from: int = 2**16
    optimise_from: int = 2**12
    batch_below: int = 2**20
    reuse: bool = True
    arena: int = 2**30
    order: int | None = None
    held: bool = False
    profile: bool = False
    platform: str | None = None
    devices: DeviceKind = "basic"
    queues: int = 8

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a word outside its vocabulary or a number below one."""
        if self.force is not None and self.force not in ALGORITHMS:
            raise ValueError(f"unknown algorithm {self.force!r}; known are {', '.join(ALGORITHMS)}")
        if self.devices not in DEVICE_KINDS:
            raise ValueError(f"unknown kind of device {self.devices!r}; known are {', '.join(DEVICE_KINDS)}")
        for name in (
            "ring_from",
            "all_to_all_from",
            "tree_from",
            "ring_members",
            "stream_from",
            "arena",
            "queues",
        ):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("one_shot_upto", "bucket_upto", "cached", "batch_below"):
            if (getattr(self, name) or 0) < 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")


def lanes(settings: Settings) -> int:
    """Return how many float32 a vector has, 0 where none may be used, and 16 of devices that nobody has asked."""
    if not settings.vectors:
        return 0
    return 16 if settings.lanes is None else settings.lanes


def other_communication(settings: Settings) -> Settings:
    """Return the settings with all that is done to collectives the other way: on where it is off, and off where on."""
    changes: dict[str, Any] = {}
    for name in COMMUNICATION:
        off = OPTIMISATIONS[name]
        on = {each: getattr(Settings(), each) for each in off}
        changes |= on if all(getattr(settings, each) == value for each, value in off.items()) else off
    return replace(settings, **changes)


def guarantees(settings: Settings) -> tuple[Guarantee, ...]:
    """Return what the algorithms that ``settings`` can choose guarantee of the order of a reduction.

    All of them take the members by position alone, for each operand of a call alone, and give every receiver of one
    result the same bits. All but the ring and the tree take them in member order, whatever the element. The ring
    begins at another member for each chunk, and where a chunk begins depends on the size; the tree begins at the
    member that receives, of a reduce_scatter each for its own piece. All-to-all folds the local axes of each member
    first, where sharded-direct folds all in one row: a size from which it is taken is one that the bits tell.
    """
    free = settings.force is None
    lost: tuple[Guarantee, ...] = ()
    if settings.force in ("ring", "tree") or (free and min(settings.ring_from, settings.tree_from) < OUT_OF_REACH):
        lost = ("size", "position")
    elif free and settings.all_to_all_from < OUT_OF_REACH:
        lost = ("size",)
    return tuple(guarantee for guarantee in PRESUPPOSES if guarantee not in lost)


def from_environment(environ: Mapping[str, str] = os.environ) -> Settings:
    """Return the settings the environment asks for; raise ``ValueError`` for a value outside its vocabulary."""
    given: dict[str, Any] = {
        "force": environ.get(FORCE),
        "platform": environ.get(PLATFORM),
        "devices": environ.get(DEVICES),
        "reuse": environ.get(REUSE),
        "order": environ.get(ORDER),
        "held": environ.get(HELD),
    }
    given = {name: value for name, value in given.items() if value}
    off = [name for name in environ.get(WITHOUT, "").split(",") if name]
    off = [each for name in off for each in (OPTIMISATIONS if name == ALL else (name,))]
    unknown = [name for name in off if name not in OPTIMISATIONS]
    if unknown:
        raise ValueError(
            f"{WITHOUT} names {', '.join(map(repr, unknown))}; known are {', '.join((*OPTIMISATIONS, ALL))}"
        )
    for name, asked in (("reuse", REUSE), ("held", HELD)):
        if name in given:
            if given[name] not in SWITCHES:
                raise ValueError(f"{asked} is {given[name]!r}; it must be {' or '.join(SWITCHES)}")
            given[name] = SWITCHES[given[name]]
    if "order" in given:
        if not given["order"].isdecimal():
            raise ValueError(f"{ORDER} is {given['order']!r}; it must be a seed, a number from 0 on")
        given["order"] = int(given["order"])
    for name in off:
        given |= OPTIMISATIONS[name]
    return Settings(**given)
