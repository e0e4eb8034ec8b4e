"""The neutral schedule: what a backend made of a graph, as data that checkers and the executing oracle read.

Bytes and elements are counted from the beginning of a buffer. Nothing here is computed; ``form`` says which
schedules are well formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from conformance.cases.graph.buffer import Bounds, Buffer, Declarations, Device
from conformance.cases.graph.graph import Graph
from conformance.cases.program.program import Attr
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.index_map import IndexMap
from conformance.cases.schedule.kernel_body import Body

FORMAT: Final = 2
"""Version of the schedule file that is written."""

READ: Final = (1, FORMAT)
"""Versions that are read. In the first there were no phases, local memory, parts, programs, calls and expressions."""


class Binding(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a variable stands for in one item."""

    name: str
    value: int


class Access(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Elements of a buffer by index ``map``, bytes of it by half-open ``ranges``, or all of it; read or written.

    ``node`` is the graph's node whose value is read or written there. With ``parts`` it is a reduce, and there are so
    many folds of a part of its terms for each of its elements, which folded give its value. ``traced`` are the strides,
    in elements, that a collective's operand had where the program was traced.
    """

    buffer: str
    write: bool = False
    map: IndexMap | None = None
    ranges: tuple[tuple[int, int], ...] | None = None
    node: str | None = None
    parts: int = 0
    traced: tuple[int, ...] | None = None


class _Item(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="kind"
):
    """What all items have.

    ``after`` names the earlier items that must be done before this one begins; ``None`` stands for all of them, but of
    those that were only started the ones that were waited for. ``provenance`` are the nodes of the graph that it
    computes, ``steps`` the steps of the program.
    """

    id: str
    after: tuple[str, ...] | None = None
    provenance: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()


class Kernel(_Item, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag="kernel"):
    """One launch on one device. Its ``bodies``, where they are known, run side by side, phase after phase.

    With a ``handle`` it is only started here, and done when something waits for the handle. ``program`` names what is
    launched: the compiled code with all that it is told but its buffers and the values of its variables.
    """

    device: str
    accesses: tuple[Access, ...]
    bodies: tuple[Body, ...] = ()
    variables: tuple[Binding, ...] = ()
    handle: str | None = None
    program: str = ""


class Copy(_Item, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag="copy"):
    """Bytes moved as they are from what it reads to what it writes, between devices; started as a kernel is."""

    accesses: tuple[Access, ...]
    handle: str | None = None


class Collective(_Item, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag="collective"):
    """An operation that ``participants`` meet in: the ``parts`` each device runs, in order, or one opaque call.

    An opaque call has ``accesses``: what each participant reads, in order, then what each writes; who does neither,
    as all but the root of a gather, has none (``opaque_form``). ``op`` and ``attrs`` are those of a program's step.
    ``group`` names the communicator; ``turns``, where the participants' own orders are known, gives for each the number
    of this collective among all that it entered, of whatever group. ``algorithm`` is a word of
    ``cases.schedule.algorithms``, or empty where nobody says; ``algorithms`` are those of the participants, where each
    chooses by itself, and ``choice`` is what they choose by. Collectives of one ``call`` are its pieces, one for each
    operand; of those without a name each is a call.
    """

    op: str
    participants: tuple[str, ...]
    group: str
    attrs: dict[str, Attr] = {}
    algorithm: str = ""
    algorithms: tuple[str, ...] = ()
    choice: Choice | None = None
    call: str = ""
    turns: tuple[int, ...] | None = None
    parts: tuple[Kernel | Copy, ...] = ()
    accesses: tuple[Access, ...] = ()
    handle: str | None = None


class View(_Item, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag="view"):
    """A buffer that is a view of its base comes to be; no bytes move."""

    buffer: str


class Wait(_Item, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag="wait"):
    """What was started under ``handle`` is done."""

    handle: str


class Call(_Item, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag="call"):
    """The items of a captured ``sequence`` once more, on other ``buffers``: one for each of its parameters, in order.

    ``variables`` take the place of what its kernels were told when it was captured.
    """

    sequence: str
    buffers: tuple[str, ...]
    variables: tuple[Binding, ...] = ()


Item = Kernel | Copy | Collective | View | Wait | Call


class Sequence(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Items that were captured to be done again: its first buffers, as many as ``parameters``, are a call's.

    The others are its own, and each call has them anew. It names no buffer of the schedule.
    """

    parameters: int
    buffers: tuple[Buffer, ...]
    items: tuple[Kernel | Copy | View, ...]


class Place(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Where the value of a node of the graph is found at the end: all of a buffer in row-major order, or by ``map``."""

    node: str
    buffer: str
    map: IndexMap | None = None


class Schedule(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Items in order, the buffers they use, and the graph they are for, where it is known."""

    devices: dict[str, Device]
    buffers: tuple[Buffer, ...]
    items: tuple[Item, ...]
    variables: dict[str, Bounds] = {}
    graph: Graph | None = None
    places: tuple[Place, ...] = ()
    sequences: dict[str, Sequence] = {}


def leaves(schedule: Schedule) -> Iterator[tuple[Item, Collective | None]]:
    """Yield the items in order, the parts of a collective in its place, each with the collective it is a part of."""
    for item in schedule.items:
        if isinstance(item, Collective) and item.parts:
            yield from ((part, item) for part in item.parts)
        else:
            yield item, None


def bound_values(schedule: Schedule) -> dict[str, int]:
    """Return what the graph, or else the first item, binds each variable to; the most it may be if none does."""
    found = {name: bounds.high for name, bounds in schedule.variables.items()}
    bound = [each for leaf, _ in leaves(schedule) if isinstance(leaf, Kernel) for each in leaf.variables]
    asked = schedule.graph.variables if schedule.graph else {}
    own = {name: variable.value for name, variable in asked.items()}
    return found | {binding.name: binding.value for binding in reversed(bound)} | own


def accesses(item: Item) -> tuple[Access, ...]:
    """Return what an item reads and writes, its parts included."""
    if isinstance(item, Collective):
        return item.accesses + tuple(access for part in item.parts for access in part.accesses)
    return item.accesses if isinstance(item, Kernel | Copy) else ()


def declarations(schedule: Schedule) -> Declarations:
    """Return what a graph may name that the schedule is for."""
    return Declarations(schedule.devices, schedule.buffers, schedule.variables, bound_values(schedule))
