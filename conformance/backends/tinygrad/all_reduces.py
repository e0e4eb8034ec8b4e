"""Which items of a linear schedule are an all_reduce: tinygrad lowers it to kernels and copies, and does not say which.

They are found by their buffers: all that is needed, behind the shards that the all_reduce takes, for what it gives.
tinygrad schedules an all_reduce as a function of its own, so they lie side by side in its order, which is kept. What is
laid out before and afterwards is no part of it, and two of the same shards are one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from conformance.backends.base import Unsupported
from conformance.cases.graph.graph import Node
from conformance.cases.schedule.kernel_body import Load, Store
from conformance.cases.schedule.schedule import Collective, Copy, Item, Kernel

ALGORITHMS: Final = {"naive": "naive", "ring": "ring", "all-to-all": "all_to_all"}
"""The words of the neutral form for what tinygrad is asked to lower an all_reduce to."""

OPS: Final = {"add": "sum", "mul": "product", "max": "max"}


class Meeting(msgspec.Struct, frozen=True):
    """An all_reduce as it was asked for.

    ``nodes`` are those of the graph that are its results, by device, ``taken`` the buffers of the shards, one on each
    of ``devices`` in order, and ``given`` those of the results, by device.
    """

    nodes: Mapping[str, Node]
    devices: tuple[str, ...]
    taken: tuple[str, ...]
    given: Mapping[str, str]


def with_meetings(items: Sequence[Kernel | Copy], meetings: Sequence[Meeting], algorithm: str) -> list[Item]:
    """Return the items in their order, those of each all_reduce as the parts of a collective.

    Those of which an earlier all_reduce has parts, or with others between them, stay what they are.
    """
    found: list[Item] = list(items)
    for number, meeting in enumerate(meetings):
        results = _results(items, meeting)
        wanted = _behind(items, set(results), set(meeting.taken))
        wanted -= _laid_out(items, wanted, meeting.taken)
        places = [place for place, item in enumerate(found) if item.id in wanted]
        if not places or places != list(range(places[0], places[-1] + 1)):
            continue
        parts = tuple(_labelled(part, results) for part in found[places[0] : places[-1] + 1])
        found[places[0] : places[-1] + 1] = [_collective(f"all_reduce{number}", meeting, parts, algorithm)]
    return found


def _writer(items: Sequence[Kernel | Copy], buffer: str) -> Kernel | Copy:
    """Return who writes a buffer that is written once, as all inner ones are before they are planned."""
    found = [item for item in items if any(access.write and access.buffer == buffer for access in item.accesses)]
    if len(found) != 1:
        raise Unsupported(f"{len(found)} items write {buffer!r}, a result of an all_reduce")
    return found[0]


def _results(items: Sequence[Kernel | Copy], meeting: Meeting) -> dict[str, Node]:
    """Return the buffers in which the all_reduce leaves its results; that they be contiguous is another kernel."""
    found = {}
    for device, buffer in meeting.given.items():
        last = _writer(items, buffer)
        found[last.accesses[0].buffer if _moves(last) else buffer] = meeting.nodes[device]
    return found


def _laid_out(items: Sequence[Kernel | Copy], wanted: set[str], taken: Sequence[str]) -> set[str]:
    """Return the items that only lay a shard out for the all_reduce, between which others may lie."""
    found = set()
    for buffer in taken:
        readers = [item for item in items if item.id in wanted and any(a.buffer == buffer for a in item.accesses)]
        if len(readers) == 1 and _moves(readers[0]):
            found.add(readers[0].id)
    return found


def _moves(item: Kernel | Copy) -> bool:
    """Return whether an item is a kernel that moves a value and nothing else."""
    kinds = [type(each) for body in getattr(item, "bodies", ()) for each in body.instructions]
    return kinds == [Load, Store]


def _behind(items: Sequence[Kernel | Copy], wanted: set[str], taken: set[str]) -> set[str]:
    """Return the items that some buffers need, down to those that are ``taken``."""
    seen: set[str] = set()
    found: set[str] = set()
    left = sorted(wanted - taken)
    while left:
        buffer = left.pop()
        seen.add(buffer)
        item = _writer(items, buffer)
        found.add(item.id)
        left += [a.buffer for a in item.accesses if not a.write and a.buffer not in seen | taken]
    return found


def _labelled(part: Item, results: Mapping[str, Node]) -> Kernel | Copy:
    """Return a part that says where it writes a result."""
    if not isinstance(part, Kernel | Copy):
        raise Unsupported(f"{part.id!r} is a part of two all_reduces")
    done = [results[access.buffer].id for access in part.accesses if access.write and access.buffer in results]
    accesses = tuple(
        msgspec.structs.replace(access, node=results[access.buffer].id)
        if access.write and access.buffer in results
        else access
        for access in part.accesses
    )
    return msgspec.structs.replace(part, accesses=accesses, provenance=tuple(dict.fromkeys((*part.provenance, *done))))


def _collective(name: str, meeting: Meeting, parts: tuple[Kernel | Copy, ...], algorithm: str) -> Collective:
    """Return the collective. What only one device is to have is reduced to it, by another algorithm than an all_reduce.

    tinygrad splits no extent that is a variable, whatever it is asked for.
    """
    node = next(iter(meeting.nodes.values()))
    symbolic = any(isinstance(extent, str) for extent in node.shape)
    word = "naive" if symbolic else ALGORITHMS[algorithm]
    attrs: dict[str, str | int] = {"op": OPS[node.fold]}
    alone = len(meeting.given) < len(meeting.devices)
    if alone:
        (device,) = meeting.given
        attrs["root"] = meeting.devices.index(device)
        word = word if word == "naive" else f"{word} to one"
    return Collective(
        id=name,
        op="reduce" if alone else "all_reduce",
        participants=meeting.devices,
        group=f"devices {', '.join(meeting.devices)}",
        attrs=dict(attrs),
        algorithm=word,
        parts=parts,
    )
