"""What items write: as they say, or where they do not, as running the schedule shows, and what nobody knows of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import MOVEMENT
from conformance.cases.schedule.schedule import Collective, Copy, Kernel
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.judging.schedules.facts.free_nodes import free
from conformance.reference.byte_ranges import size
from conformance.reference.graph.rounding import BESIDE, UNKNOWN
from conformance.reference.schedule.comparison import differs, open_to
from conformance.reference.schedule.data import DRAWS, WIDE_DRAWS, initial
from conformance.reference.schedule.eager import eager
from conformance.reference.schedule.execute import executable
from conformance.reference.schedule.facts import Facts, Touch
from conformance.reference.schedule.graph import Evaluation, worth
from conformance.reference.schedule.memory import Memory, perform

Written = tuple[int, Touch]


def nameless(facts: Facts, number: int) -> bool:
    """Return whether a leaf writes anything without saying what it is."""
    return any(touch.write and touch.access.node is None and len(touch.ranges) for touch in facts.touches[number])


def labels_of(item: Collective) -> list[str]:
    """Return the nodes that a collective, or a part of it, says it makes."""
    leaves = (item, *item.parts)
    written = [each.node for leaf in leaves for each in leaf.accesses if each.write and each.node is not None]
    return [*(name for leaf in leaves for name in leaf.provenance), *written]


def unexplained(facts: Facts) -> bool:
    """Return whether some kernel outside collectives has neither a body nor provenance, nor says all that it writes."""
    return any(
        isinstance(leaf, Kernel) and owner is None and not (leaf.bodies or leaf.provenance) and nameless(facts, number)
        for number, (leaf, owner) in enumerate(facts.owned)
    )


def said(facts: Facts) -> Mapping[str, list[Written]]:
    """Return who writes the value of each node: as it says, and of a write without a label, as is seen by running."""
    return _known(facts)[0]


def perhaps_written(facts: Facts) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield the leaves that write without saying what, where running tells that it is one of some nodes, with these."""
    numbers = {id(touch): number for number, own in enumerate(facts.touches) for touch in own}
    yield from ((numbers[id(each.touch)], each.among or ()) for each in _known(facts)[1])


def hidden(facts: Facts, names: Iterable[str]) -> bool:
    """Return whether a write of which nobody knows what it is may be the value of one of some nodes, or a part of it.

    One that may as well be a value that has to be computed is no needless one.
    """
    found, unknown = _known(facts)
    for name in names:
        node = facts.nodes[name]
        for each in unknown if name not in found else ():
            if each.among is None:
                same = facts.buffers[each.touch.access.buffer].device == node.device
                if same and size(each.touch.ranges) == _bytes(facts, name):
                    return True
            elif name in each.among and (not free(facts, name) or all(free(facts, other) for other in each.among)):
                return True
    return False


def _bytes(facts: Facts, name: str) -> int:
    node = facts.nodes[name]
    return math.prod(sizes(node.shape, facts.values)) * NUMPY[node.dtype].itemsize


class _Unknown(NamedTuple):
    """A write that is the value of one node of those ``among``, or part of one; of any where nothing can be run."""

    touch: Touch
    among: Sequence[str] | None


_Known = tuple[Mapping[str, list[Written]], list[_Unknown]]


def _known(facts: Facts) -> _Known:
    """Return who writes what, and the writes outside collectives of which that is not known; found once."""
    key = ("labels", 0, 0)
    if key not in facts.kept:
        open_ = list(unlabelled(facts))
        plain: _Known = (facts.writers, [_Unknown(touch, None) for _, touch in open_])
        facts.kept[key] = _inferred(facts, open_) if open_ and facts.writers else plain
    return cast("_Known", facts.kept[key])


def unlabelled(facts: Facts) -> Iterator[Written]:
    """Yield what kernels and copies outside collectives write without saying what it is."""
    for number, (leaf, owner) in enumerate(facts.owned):
        for touch in facts.touches[number] if owner is None and isinstance(leaf, Kernel | Copy) else ():
            if touch.write and touch.access.node is None and len(touch.ranges):
                yield number, touch


def _inferred(facts: Facts, open_: list[Written]) -> _Known:
    """Return the labels with those that are told by the bytes of a buffer, or by the numbers of a value."""
    found = {name: list(written) for name, written in facts.writers.items()}
    seen = _matches(facts, open_)
    unknown: list[_Unknown] = []
    for at, (number, touch) in enumerate(open_):
        names = _opened(facts, touch)
        if not names and seen is None:
            unknown.append(_Unknown(touch, None))
        whole = seen[at].whole if seen else []
        names = names or _among(facts, whole, touch)
        if len({facts.nodes[name].op for name in names}) == 1:
            own = next((name for name in names if name not in facts.writers), names[0])
            found.setdefault(own, []).append((number, touch))
        elif seen is not None and not any(name in facts.stored for name in whole):
            # Of those that nodes of several kinds have it may be any, and what no node has may be a part of one.
            unknown.append(_Unknown(touch, names or [*whole, *seen[at].part]))
        elif seen is not None:
            # What storage holds may be moved for something that nobody sees, or be a value that is there already.
            unknown.append(_Unknown(touch, [name for name in whole if name in facts.stored]))
    return found, unknown


def _among(facts: Facts, whole: list[str], touch: Touch) -> list[str]:
    """Return the nodes that a write may be of: those placed in its buffer, or else also those written elsewhere, again.

    There are none where all that it may be is written elsewhere.
    """
    names = _computed(facts, whole)
    placed = {each.node for each in facts.schedule.places if each.buffer == touch.access.buffer}
    again = [name for name in whole if name in facts.writers and name not in facts.stored] if names else []
    return [name for name in names if name in placed] or [*names, *again]


def _computed(facts: Facts, names: list[str]) -> list[str]:
    """Return those of nodes with the values of a write that it may be: computed ones that nothing says it writes.

    Where what storage holds has these values too, and not because they are its own moved or kept, it may be that, as
    what goes from one device to another is: then it is none of them.
    """
    held = [name for name in names if name in facts.stored]
    found = [name for name in names if name not in facts.stored and name not in facts.writers]
    return [] if any(not _kept_of(facts, name, held) for name in found if held) else found


def _kept_of(facts: Facts, name: str, held: list[str]) -> bool:
    """Return whether a node is what one of some nodes holds, moved or kept."""
    while name not in held and facts.nodes[name].op in (*MOVEMENT, "contig", "copy"):
        name = facts.nodes[name].of[0]
    return name in held


def _opened(facts: Facts, touch: Touch) -> list[str]:
    """Return the buffer that was asked for empty whose bytes a write goes to, though nothing assigns to it."""
    if any(facts.stored_bytes(stored)[0] == touch.root for _, stored in facts.assigned):
        return []
    for node in facts.nodes.values():
        if node.op == "buf" and not facts.is_given(str(node.arg)) and facts.node_bytes(node.id)[0] == touch.root:
            return [node.id]
    return []


class _Match(NamedTuple):
    """The nodes that have the values of a write on all data, and the computed ones that have them among others."""

    whole: list[str]
    part: list[str]


def _matches(facts: Facts, open_: list[Written]) -> list[_Match] | None:
    """Return for each write which nodes it may be of; ``None`` where nothing can be run."""
    if executable(facts) is not None:
        return None
    sizes_of = {name: _bytes(facts, name) for name in facts.nodes}
    left = []
    for _, touch in open_:
        device, own = facts.buffers[touch.access.buffer].device, size(touch.ranges)
        near = [name for name in sizes_of if facts.nodes[name].device == device]
        whole = [name for name in near if sizes_of[name] == own]
        more = [name for name in near if name not in facts.stored and sizes_of[name] > own]
        left.append(_Match(whole, [name for name in more if not own % _width(facts, name)]))
    for seed in range(DRAWS + WIDE_DRAWS):
        if not any(each.whole or each.part for each in left):
            break
        right, memory = eager(facts, seed), initial(facts, seed)
        try:
            for number in range(len(facts.leaves)):
                perform(memory, facts.leaves[number], number)
                for at, (own, touch) in enumerate(open_):
                    if own == number:
                        array, (whole, part) = _bytes_at(memory, touch), left[at]
                        left[at] = _Match(
                            [name for name in whole if _is(right, name, array)],
                            [name for name in part if _within(right, name, array)],
                        )
        except (ScheduleError, IndexError, ValueError):
            # What cannot be run is the business of other clauses.
            return None
    return left


def _width(facts: Facts, name: str) -> int:
    return NUMPY[facts.nodes[name].dtype].itemsize


def _within(right: Evaluation, name: str, seen: bytes) -> bool:
    """Return whether each element that was written has the bits of one of a node's."""
    meaning = right.meanings[name]
    wanted: Array = worth(meaning, right.memory).reshape(-1)
    width = wanted.dtype.itemsize
    bits = wanted.tobytes()
    pool = {bits[at : at + width] for at in range(0, len(bits), width)}
    return all(seen[at : at + width] in pool for at in range(0, len(seen), width))


def _bytes_at(memory: Memory, touch: Touch) -> bytes:
    storage = memory.storages[touch.root]
    return b"".join(storage[start:stop].tobytes() for start, stop in touch.ranges)


def _is(right: Evaluation, name: str, seen: bytes) -> bool:
    meaning = right.meanings[name]
    wanted: Array = worth(meaning, right.memory).reshape(-1)
    array = np.frombuffer(seen, wanted.dtype)
    return differs(array, wanted, None, open_to(right.mask(name), UNKNOWN | BESIDE)) is None
