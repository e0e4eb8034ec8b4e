"""What graphs and schedules are given: devices, buffers on them, and variables with their bounds."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from conformance.cases.graph.extent import Dim


class Device(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where buffers live. ``alignment`` is that of a sub-buffer's offset, in bytes; 0 where there are none.

    ``most_buffers`` is how many buffers a kernel there can be given; 0 where nothing limits them.
    """

    alignment: int = 256
    most_buffers: int = 0


class Bounds(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a variable may be when the schedule runs: at least ``low`` and at most ``high``."""

    low: int
    high: int


class Buffer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """``size`` bytes on a device: storage of its own, or from byte ``offset`` on a part of ``base``.

    A part is a view, which shows what the base holds, unless it is ``planned``: then the memory plan put it there, its
    bytes are its own from its first write to its last use, and its base is an arena. ``preexisting`` buffers hold data
    before the schedule, ``held`` ones are reachable from outside while it runs, ``output`` ones are read after it.
    ``communication`` buffers belong to the collectives of that group, and ``communication_kind`` is a word of
    ``cases.schedule.communication`` for how these reach them. ``allocation`` names memory that lasts from one run of
    the schedule to the next; a part of it lies in it. Who writes an ``unfused`` one is not to compute anything else.
    ``shape`` may name variables; ``size`` is then that of their greatest values. A ``local`` one is memory of one
    kernel's groups of points, of each as much as of any other, the first group's first, and is gone with the kernel.
    ``space`` numbers the memory of its device that a buffer lies in, where that has several: 0 is the main one.
    """

    id: str
    size: int
    dtype: str
    device: str
    base: str | None = None
    offset: int = 0
    planned: bool = False
    preexisting: bool = False
    held: bool = False
    output: bool = False
    communication: str = ""
    communication_kind: str = ""
    allocation: str = ""
    unfused: bool = False
    shape: tuple[Dim, ...] | None = None
    local: bool = False
    space: int = 0


@dataclass(frozen=True)
class Declarations:
    """What nodes of a graph may name: devices, buffers, and variables, each with what it is ``bound`` to."""

    devices: dict[str, Device]
    buffers: tuple[Buffer, ...]
    variables: dict[str, Bounds]
    bound: dict[str, int]
