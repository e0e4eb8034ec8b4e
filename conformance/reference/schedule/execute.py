"""The executing oracle: a schedule run with NumPy, in its order and in every one it permits, beside the eager graph."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import islice
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.kernel_body import Store
from conformance.cases.schedule.schedule import Collective, Kernel
from conformance.cases.schedule_error import ScheduleError
from conformance.cases.tensor.dtypes import NUMPY
from conformance.reference.graph.rounding import BESIDE, LOOSE, UNKNOWN
from conformance.reference.operations import TABLE
from conformance.reference.schedule.comparison import beyond, difference, differs, open_to, placed
from conformance.reference.schedule.data import DANGEROUS_DRAWS, DRAWS, EACH_ONCE, SMALL, WIDE_DRAWS, initial
from conformance.reference.schedule.eager import eager
from conformance.reference.schedule.facts import Facts
from conformance.reference.schedule.graph import Evaluation, evaluate_graph, worth
from conformance.reference.schedule.memory import Memory, perform
from conformance.reference.schedule.orders import legal_orders, settled

MOST_BYTES: Final = 1 << 28
"""Bytes of all storages up to which a schedule is run: twice that is held, and each order makes them anew."""


MOST_VALUES: Final = 1 << 26
"""Values of all instructions of a kernel at all its points, which are held at once."""

MANY_DRAWS: Final = 16
"""How often data are drawn where equality excuses something: one bool agrees by chance in every second draw."""


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
    first, named = DRAWS + WIDE_DRAWS, {*results} & {place.node for place in facts.schedule.places}
    for seed in range(first, first + DANGEROUS_DRAWS):
        right = eager(facts, seed)
        try:
            seen = as_listed(facts, seed)
        except ScheduleError as error:
            return str(error)
        for name, array in ((name, array) for name, array in placed(facts, seen, right) if name in named):
            wanted = worth(right.meanings[name], right.memory).reshape(-1)
            zero = (array == 0) & (wanted == 0) & (np.signbit(array) != np.signbit(wanted))
            # That a zero of either sign is right is what is asked about here, and no reason to leave one out.
            excused = open_to(right.mask(name), 0xFF & ~LOOSE)
            zero &= True if excused is None else ~excused.reshape(-1)
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
    problem = difference(facts, seen, right, seed, open_bits)
    return problem or (beyond(facts, seen, right, seed) if open_bits & BESIDE else None)
