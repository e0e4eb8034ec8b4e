"""The executing oracle: a schedule run with NumPy, in its order and in every one it permits, against the eager graph.

What is made of a sum or a product of floats that may round in some order is not compared: every order is right
(``schedule_rounding``). Zeros of either sign are equal, and so are all NaNs: a collective that pads its chunks with
zeros and adds them turns -0.0 into 0.0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Final

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from conformance.cases.graph.buffer import Buffer
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.kernel_body import Store
from conformance.cases.schedule.schedule import Access, Collective, Kernel
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.reference.graph.movement import Stored
from conformance.reference.graph.rounding import BESIDE, LOOSE, UNKNOWN, Mask
from conformance.reference.operations import TABLE
from conformance.reference.schedule.data import DANGEROUS_DRAWS, DRAWS, EACH_ONCE, SMALL, WIDE_DRAWS, initial
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.graph import Evaluation, evaluate_graph, worth
from conformance.reference.schedule.memory import POISON, Memory, perform
from conformance.reference.schedule.orders import legal_orders, settled

MOST_BYTES: Final = 1 << 28
"""Bytes of all storages up to which a schedule is run: twice that is held, and each order makes them anew."""


MOST_VALUES: Final = 1 << 26
"""Values of all instructions of a kernel at all its points, which are held at once."""

MANY_DRAWS: Final = 16
"""How often data are drawn where equality excuses something: one bool agrees by chance in every second draw."""


OTHER: Final = 0
"""What may lie in bytes that nothing defined instead of ``POISON``."""


def executable(facts: Facts) -> str | None:
    """Return why the schedule cannot be run with NumPy, or ``None``."""
    graph = facts.schedule.graph
    if graph is None:
        return "it has no graph"
    if _large(facts, graph):
        return f"its storages or its nodes have more than {MOST_BYTES >> 20} MiB"
    problems = (_unknown(facts, number) for number in range(len(facts.leaves)))
    return next((problem for problem in problems if problem), None)


def holdable(facts: Facts) -> bool:
    """Return whether there is a graph, and all of it and of the storages can be held."""
    graph = facts.schedule.graph
    return graph is not None and not _large(facts, graph)


def _large(facts: Facts, graph: Graph) -> bool:
    """Return whether the storages or the nodes are more than can be held."""
    inner = [node for function in graph.functions.values() for node in function.nodes]
    storages = sum(buffer.size for buffer in facts.schedule.buffers if buffer.base is None)
    return max(storages, sum(_bytes(facts, node) for node in (*graph.nodes, *inner))) > MOST_BYTES


def _unknown(facts: Facts, number: int) -> str | None:
    """Return what is not known of a leaf, or too much of it, to run it."""
    leaf = facts.leaves[number]
    if isinstance(leaf, Collective) and leaf.op not in TABLE:
        return f"{facts.name(number)} is {leaf.op!r}, which is no operation of the specification"
    if isinstance(leaf, Collective) and leaf.op in ("send", "recv"):
        return f"{facts.name(number)} is {leaf.op!r}, and what is under way lies in no buffer"
    if isinstance(leaf, Kernel):
        bodies = [(sizes(body.extents, facts.bound(leaf)), len(body.instructions)) for body in leaf.bodies]
        stored = {each.access for body in leaf.bodies for each in body.instructions if isinstance(each, Store)}
        if sum(math.prod(shape) * count for shape, count in bodies) > MOST_VALUES:
            return f"{facts.name(number)} computes more than {MOST_VALUES} values"
        if stored != {at for at, access in enumerate(leaf.accesses) if access.write}:
            return f"{facts.name(number)} has no body for all that it writes"
    return None


def _bytes(facts: Facts, node: Node) -> int:
    return math.prod(sizes(node.shape, facts.values)) * NUMPY[node.dtype].itemsize


def run(facts: Facts, order: tuple[int, ...] | None = None, seed: int = 0) -> Memory:
    """Return the memory after the leaves have run in ``order`` (default: as listed)."""
    memory = initial(facts, seed)
    for number in range(len(facts.leaves)) if order is None else order:
        perform(memory, facts.leaves[number], number)
    return memory


def eager(facts: Facts, seed: int = 0, poison: int = POISON) -> Evaluation:
    """Return the meaning of the graph, with the memory that eager evaluation leaves; of small ones it is kept.

    The memory may be that of another schedule of the same graph: all that the graph names lies there too.
    """
    graph = facts.schedule.graph
    assert graph is not None
    if facts.like is not None and _same_question(facts, facts.like):
        return eager(facts.like, seed, poison)
    key = ("eager", seed, poison)
    if key not in facts.kept:
        found = evaluate_graph(graph, initial(facts, seed, poison), facts.values)
        if sum(storage.size for storage in found.memory.storages.values()) > SMALL:
            return found
        facts.kept[key] = found
    known = facts.kept[key]
    assert isinstance(known, Evaluation)
    return known


def _same_question(facts: Facts, other: Facts) -> bool:
    """Return whether both have the same nodes over the same buffers, so that eager evaluation gives the same."""
    key = ("same question", 0, 0)
    if key not in facts.kept:
        facts.kept[key] = _asked_about(facts) == _asked_about(other)
    return bool(facts.kept[key])


def _asked_about(facts: Facts) -> tuple[bytes, list[tuple[Buffer, str, int]]]:
    """Return the nodes, with the values of variables, and whatever lies in the storages that they name."""
    graph = facts.schedule.graph
    assert graph is not None
    inner = [node for function in graph.functions.values() for node in function.nodes]
    named = {facts.root(str(node.arg))[0] for node in (*graph.nodes, *inner) if node.op == "buf"}
    beside = [(buffer, *facts.root(buffer.id)) for buffer in facts.schedule.buffers]
    return msgspec.json.encode(replace(graph, results=())), [each for each in beside if each[1] in named]


def as_listed(facts: Facts, seed: int) -> Memory:
    """Return the memory after the leaves have run as listed, of small schedules kept; raise ``ScheduleError``."""
    key = ("listed", seed, 0)
    if key not in facts.kept:
        memory = run(facts, None, seed)
        if sum(storage.size for storage in memory.storages.values()) > SMALL:
            return memory
        facts.kept[key] = memory
    found = facts.kept[key]
    assert isinstance(found, Memory)
    return found


def changes_nothing(facts: Facts, assign: str) -> bool:
    """Return whether an assign of the graph leaves its target as it is, whatever data are drawn.

    ``False`` too where the graph, or the memory that it is computed in, is too large.
    """
    graph, place = facts.schedule.graph, facts.program[assign]
    assert graph is not None
    if _large(facts, graph):
        return False
    stored = facts.stored[assign]
    for seed in range(MANY_DRAWS):
        without, done = (
            evaluate_graph(replace(graph, nodes=graph.nodes[:end]), initial(facts, seed), facts.values).memory
            for end in (place, place + 1)
        )
        at = stored.at.reshape(-1)
        if differs(done.array(stored.buffer)[at], without.array(stored.buffer)[at]):
            return False
    return True


def fixed(facts: Facts) -> frozenset[str]:
    """Return the nodes whose values are the same whatever data are drawn: a pad of which zeros are left, ``x * 0``.

    None where the graph, or the memory that it is computed in, is too large.
    """
    graph = facts.schedule.graph
    if graph is None or _large(facts, graph):
        return frozenset()
    first, *others = (eager(facts, seed) for seed in range(MANY_DRAWS))
    return frozenset(name for name in first.meanings if all(_alike(name, first, each) for each in others))


def _alike(name: str, one: Evaluation, other: Evaluation) -> bool:
    """Return whether two evaluations give a node the same bits."""
    mine, theirs = (worth(each.meanings[name], each.memory) for each in (one, other))
    return mine.tobytes() == theirs.tobytes()


def difference(
    facts: Facts, seen: Memory, right: Evaluation, seed: int = 0, open_bits: int = UNKNOWN | BESIDE
) -> str | None:
    """Return how the memory ``seen`` differs from the meaning of the graph on the same data, or ``None``.

    Elements of which something is known that is among ``open_bits`` are not compared.

    Compared are the values of all results, and of whatever else has a place, where they are said to be, and of all that
    is assigned to, in the storages that every alias shows, and bit for bit the rest of what was there before.
    """
    if _difference(facts, seen, right, None, seed, open_bits) is None:
        return None
    # What depends on undefined bytes is only left out of what differs: who is right needs no second evaluation.
    return _difference(facts, seen, right, _otherwise(facts, right, seed), seed, open_bits)


def _difference(
    facts: Facts, seen: Memory, right: Evaluation, other: Evaluation | None, seed: int, open_bits: int
) -> str | None:
    """Return the difference; elements that are others in the ``other`` evaluation are not compared."""
    places = {place.node: place for place in facts.schedule.places}
    results = () if facts.schedule.graph is None else facts.schedule.graph.results
    for name in dict.fromkeys((*results, *places)):
        place, meaning = places.get(name), right.meanings[name]
        wanted = worth(meaning, right.memory)
        if place is None:
            # A name of storage is there and nowhere else; what is assigned to storage that was there before is below.
            if not isinstance(meaning, Stored) or facts.is_given(meaning.buffer):
                continue
            array = worth(meaning, seen).reshape(-1)
        elif place.map is None:
            array = seen.array(place.buffer)[: wanted.size]
        else:
            array = seen.read(Access(buffer=place.buffer, map=place.map), facts.values).reshape(-1)
        another = None if other is None else worth(other.meanings[name], other.memory).reshape(-1)
        problem = differs(array, wanted.reshape(-1), another, _shown(right.mask(name), open_bits))
        if problem:
            return f"result {name!r}: {problem}"
    stray = _changed(facts, seen, seed)
    for stored in right.assigned:
        root, offset = facts.root(stored.buffer)
        at = stored.at.reshape(-1)
        found, wanted = (memory.array(stored.buffer)[at] for memory in (seen, right.memory))
        another = None if other is None else other.memory.array(stored.buffer)[at]
        problem = differs(found, wanted, another, _shown(right.mask_of(stored), open_bits))
        if problem and root in stray:
            return f"buffer {stored.buffer!r}: of what is assigned there, {problem}"
        width = NUMPY[facts.buffers[stored.buffer].dtype].itemsize
        for byte in range(width) if root in stray else ():
            stray[root][offset + at * width + byte] = False
    for name, changed in stray.items():
        if changed.any():
            return f"buffer {name!r}: byte {int(np.argmax(changed))} changed, and nothing is assigned there"
    return None


def _shown(mask: Mask | None, open_bits: int) -> NDArray[np.bool_] | None:
    return None if mask is None else np.asarray((mask & np.uint8(open_bits)) > 0)


def _otherwise(facts: Facts, right: Evaluation, seed: int) -> Evaluation:
    """Return the meaning of the graph where other bytes lie in what nothing defined: what changes is not defined."""
    undefined = [node for node in right.graph.nodes if node.op == "buf" and not facts.is_given(str(node.arg))]
    return eager(facts, seed, OTHER) if undefined else right


def _changed(facts: Facts, seen: Memory, seed: int) -> dict[str, NDArray[np.bool_]]:
    """Return which bytes are not as they were, of those of each storage that held data."""
    before = initial(facts, seed)
    found = {name: np.zeros(before.storages[name].size, np.bool_) for name in facts.given}
    for name, ranges in facts.given.items():
        for start, stop in ranges:
            found[name][start:stop] = seen.storages[name][start:stop] != before.storages[name][start:stop]
    return found


def law(facts: Facts) -> str | None:
    """Return how running the schedule, as listed or in an order it permits, differs from its graph, or ``None``."""
    problem = wrong_as_listed(facts)
    if problem:
        return problem
    if settled(facts):
        return None
    right = eager(facts)
    for order in islice(legal_orders(facts), 1, None):
        problem = _wrong(facts, right, order=order)
        if problem:
            return f"{problem}, when run in the order {', '.join(facts.leaves[number].id for number in order)}"
    return None


def wrong_as_listed(facts: Facts) -> str | None:
    """Return how running the schedule in its order differs from its graph on any data drawn, or ``None``.

    One that was asked for beside another is run on one draw of each kind (``data.EACH_ONCE``).
    A collective that does not fit its operation differs by having no values. Found once: several clauses ask.
    """
    key = ("wrong as listed", 0, 0)
    if key not in facts.kept:
        draws = range(DRAWS + WIDE_DRAWS + DANGEROUS_DRAWS) if facts.like is None else EACH_ONCE
        found = (_wrong(facts, eager(facts, seed), seed) for seed in draws)
        facts.kept[key] = next((problem for problem in found if problem), None)
    known = facts.kept[key]
    assert known is None or isinstance(known, str)
    return known


def beside_nan(facts: Facts) -> str | None:
    """Return how a schedule differs from its graph where it takes a maximum of a NaN and a number, or ``None``."""
    first = DRAWS + WIDE_DRAWS
    found = (
        _wrong(facts, eager(facts, seed), seed, open_bits=UNKNOWN) for seed in range(first, first + DANGEROUS_DRAWS)
    )
    return next((problem for problem in found if problem), None)


def zero_of_another_sign(facts: Facts, results: Sequence[str]) -> str | None:
    """Return which of some results, of floats, has a zero of another sign than the graph's, or ``None``."""
    places = {place.node: place for place in facts.schedule.places}
    first = DRAWS + WIDE_DRAWS
    for seed in range(first, first + DANGEROUS_DRAWS):
        right = eager(facts, seed)
        try:
            seen = as_listed(facts, seed)
        except ScheduleError as error:
            return str(error)
        for name in (each for each in results if each in places):
            wanted, place, mask = worth(right.meanings[name], right.memory).reshape(-1), places[name], right.mask(name)
            if place.map is None:
                array = seen.array(place.buffer)[: wanted.size]
            else:
                array = seen.read(Access(buffer=place.buffer, map=place.map), facts.values).reshape(-1)
            zero = (array == 0) & (wanted == 0) & (np.signbit(array) != np.signbit(wanted))
            # That a zero of either sign is right is what is asked about here, and no reason to leave one out.
            shown = _shown(mask, 0xFF & ~LOOSE)
            zero &= True if shown is None else ~shown.reshape(-1)
            if zero.any():
                at = int(np.argmax(zero))
                return f"result {name!r}: element {at} is {array[at]}, expected {wanted[at]}"
    return None


def _wrong(
    facts: Facts,
    right: Evaluation,
    seed: int = 0,
    order: tuple[int, ...] | None = None,
    open_bits: int = UNKNOWN | BESIDE,
) -> str | None:
    try:
        seen = as_listed(facts, seed) if order is None else run(facts, order, seed)
    except ScheduleError as error:
        return str(error)
    return difference(facts, seen, right, seed, open_bits)


def differs(
    seen: Array, right: Array, other: Array | None = None, rounded: NDArray[np.bool_] | None = None
) -> str | None:
    """Return how ``seen`` differs from ``right``, where ``other`` is no different and ``rounded`` is not set."""
    if seen.dtype != right.dtype or seen.shape != right.shape:
        return f"it is {seen.size} {seen.dtype}, expected {right.size} {right.dtype}"
    with np.errstate(all="ignore"):
        same = (seen == right) | ((seen != seen) & (right != right))  # noqa: PLR0124 - a NaN differs from itself
        if seen.dtype == np.bool_:
            # A bool is one of two bytes; any other is no value, though NumPy takes it for true.
            same &= (seen.view(np.uint8) <= 1) | (right.view(np.uint8) > 1)
        if other is not None:
            same |= (right != other) & ((right == right) | (other == other))  # noqa: PLR0124 - as above
    if rounded is not None:
        same |= rounded.reshape(-1)
    if same.all():
        return None
    at = int(np.argmin(same))
    found = f"the byte {seen.view(np.uint8)[at]}" if seen.dtype == np.bool_ else seen[at]
    return f"{int((~same).sum())} of {same.size} elements differ; element {at} is {found}, expected {right[at]}"
