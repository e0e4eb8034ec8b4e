"""How collectives are called: by which algorithm, on which layouts, of how many operands, and in which order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.cases.schedule.schedule import Access, Collective, Item, Kernel
from conformance.judging.clause import SILENT
from conformance.judging.schedules.clause import PairClause, ScheduleClause
from conformance.judging.schedules.facts.communication import (
    belonging,
    chain,
    collectives,
    computed,
    dense,
    layout,
    operand_bytes,
    operands,
    pieces,
    row_major,
)
from conformance.judging.schedules.facts.subjects import handled, some_buffer, some_collective
from conformance.reference.schedule.execute import executable
from conformance.reference.schedule.facts import Facts
from conformance.specs.schedules.order import wrong_value
from conformance.specs.schedules.waits import entered, in_place, one_order, waited, waits_for

ONE_SHOT: Final = "one_shot"
CHOICE: Final = "torch.inductor.comm_lowering: _should_lower_as_one_shot_all_reduce"
COALESCED: Final = "torch.inductor.comm_lowering: _all_reduce_coalesced"


def _words(item: Collective) -> tuple[str, ...]:
    """Return the algorithms of a collective that are told, each once."""
    return tuple(dict.fromkeys(word for word in (item.algorithm, *item.algorithms) if word))


def _chosen(facts: Facts) -> Iterator[tuple[Collective, int]]:
    """Yield the all_reduces of which it is known what they are chosen by, with the bytes of the greatest operand."""
    for item in collectives(facts):
        if item.choice is not None and item.op == "all_reduce":
            yield item, max(operand_bytes(facts, item), default=0)


def _allowed(item: Collective, count: int) -> str | None:
    """Return why a collective of so many bytes is not done in one shot, or ``None`` where it may be."""
    choice = item.choice
    assert choice is not None
    if not choice.on:
        return "one shot is off"
    if item.attrs.get("op") not in choice.reductions:
        return f"one shot is for {', '.join(choice.reductions)}, not for {item.attrs.get('op')}"
    if count > choice.threshold:
        return f"an operand has {count} bytes, and one shot is for {choice.threshold} at most"
    return None


def one_shot_where_allowed(facts: Facts) -> str | None:
    """Find a one-shot all_reduce that the setting does not allow, or of what is no memory of its communicator."""
    for item, count in _chosen(facts):
        if ONE_SHOT not in _words(item):
            continue
        against = _allowed(item, count)
        if against is not None:
            return f"item {item.id!r} is done in one shot: {against}"
        for name in operands(item):
            buffer = belonging(facts, name)
            if buffer is None or buffer.communication != item.group:
                return f"item {item.id!r} is done in one shot of {name!r}, which is no memory of {item.group!r}"
    return None


def _due(facts: Facts) -> Iterator[Collective]:
    """Yield the all_reduces that the setting lets be done in one shot, of one computed operand."""
    count = pieces(facts)
    for item, size in _chosen(facts):
        if _allowed(item, size) is None and count[item.id] == 1 and computed(facts, item):
            yield item


def one_shot_where_due(facts: Facts) -> str | None:
    """Find an all_reduce of a small computed operand that is not done in one shot."""
    for item in _due(facts):
        if _words(item) != (ONE_SHOT,):
            assert item.choice is not None
            return (
                f"item {item.id!r} is not done in one shot, and its operand has {item.choice.threshold} bytes at most"
            )
    return None


def one_algorithm(facts: Facts) -> str | None:
    """Find a collective that its participants do by different algorithms."""
    for item in collectives(facts):
        for device, word in zip(item.participants, item.algorithms, strict=False):
            known = item.algorithm or item.algorithms[0]
            if word != known:
                return f"item {item.id!r} is done by {word or 'no algorithm'!r} on {device}, and by {known!r} elsewhere"
    return None


def _alike(facts: Facts) -> Iterator[list[Collective]]:
    """Yield the collectives that are equal in all that an algorithm is chosen by, where there are several."""
    count = pieces(facts)
    found: dict[tuple[object, ...], list[Collective]] = {}
    for item in collectives(facts):
        size = operand_bytes(facts, item)
        if size and (item.choice is None or computed(facts, item)):
            dtypes = tuple(facts.buffers[name].dtype for name in operands(item))
            attrs = tuple(sorted((name, str(value)) for name, value in item.attrs.items()))
            key = (item.op, attrs, item.participants, item.group, size, dtypes, item.choice, count[item.id])
            found.setdefault(key, []).append(item)
    yield from (each for each in found.values() if len(each) > 1)


def chosen_alike(facts: Facts) -> str | None:
    """Find two collectives of one communicator that differ in nothing but in their algorithm.

    Say nothing where of one of those that are alike nobody says how it is done.
    """
    told = True
    for items in _alike(facts):
        first, *rest = [item for item in items if _words(item)] or items
        told &= all(map(_words, items))
        for other in filter(_words, rest):
            if _words(other) != _words(first):
                return (
                    f"items {first.id!r} and {other.id!r} are alike, and are done by {', '.join(_words(first))} and by "
                    f"{', '.join(_words(other))}"
                )
    return None if told else SILENT


def _pieces_of_several(facts: Facts) -> list[Collective]:
    count = pieces(facts)
    return [item for item in collectives(facts) if count[item.id] > 1]


def several_never_in_one_shot(facts: Facts) -> str | None:
    """Find a call of several operands that is done in one shot; say nothing where of a piece nobody says how."""
    several, count = _pieces_of_several(facts), pieces(facts)
    for item in several:
        if ONE_SHOT in _words(item):
            return f"item {item.id!r} is one of {count[item.id]} pieces of call {item.call!r}, and is done in one shot"
    return None if all(_words(item) or item.choice for item in several) else SILENT


def _of_one_step(facts: Facts) -> list[list[Collective]]:
    """Return the calls of collectives that are known to do one step of a program, in one group, where several do."""
    found: dict[tuple[object, ...], list[Collective]] = {}
    for item in collectives(facts):
        if len(item.steps) == 1 and not item.parts:
            found.setdefault((item.steps, item.op, item.group, item.participants), []).append(item)
    return [each for each in found.values() if len(each) > 1]


def one_call_a_step(facts: Facts) -> str | None:
    """Find a step of several operands that takes several calls."""
    for first, *rest in _of_one_step(facts):
        for other in rest:
            if not first.call or other.call != first.call:
                return f"items {first.id!r} and {other.id!r} do step {first.steps[0]} of the program, in two calls"
    return None


def alone_in_its_kernel(facts: Facts) -> str | None:
    """Find a kernel that computes more than a value which is not to be fused."""
    for number, leaf in enumerate(facts.leaves):
        if not isinstance(leaf, Kernel):
            continue
        names = [access.buffer for access in leaf.accesses if access.write]
        written = dict.fromkeys(facts.home(name) for name in names)
        alone = [facts.home(name) for name in names if any(each.unfused for each in chain(facts, name))]
        others = [name for name in written if name not in alone[:1]]
        if alone and others:
            return f"{facts.name(number)} writes {others[0]!r} beside {alone[0]!r}, which is not to be fused"
    return None


def _traced(facts: Facts) -> Iterator[tuple[Collective, Access]]:
    for item in collectives(facts):
        yield from ((item, access) for access in item.accesses if access.traced is not None)


def as_traced(facts: Facts) -> str | None:
    """Find an operand with other strides than it had when it was traced, which is not in row-major order either."""
    for item, access in _traced(facts):
        assert access.map is not None
        assert access.traced is not None
        pairs = layout(facts, access)
        extents = [extent for extent in access.map[0].extents if extent != 1]
        wanted = [stride for extent, stride in zip(access.map[0].extents, access.traced, strict=True) if extent != 1]
        if pairs is None or 0 in extents or row_major(pairs):
            continue
        strides = [stride for _, stride in pairs]
        if strides != wanted:
            return f"item {item.id!r} uses {access.buffer!r} with strides {strides}; when traced they were {wanted}"
    return None


def _overwriting(facts: Facts) -> Iterator[tuple[Collective, list[Access]]]:
    """Yield the calls that write over what they read, with the reads and writes where they do."""
    for leaf in facts.leaves:
        if isinstance(leaf, Collective):
            numbers = dict.fromkeys(number for pair in in_place(facts, leaf) for number in pair)
            if numbers:
                yield leaf, [leaf.accesses[number] for number in numbers]


def without_gaps(facts: Facts) -> str | None:
    """Find a call in place of an operand with gaps, or whose axes follow each other otherwise on another device."""
    told = True
    for item, own in _overwriting(facts):
        orders = [layout(facts, access) for access in own]
        told &= None not in orders
        known = [(access, pairs) for access, pairs in zip(own, orders, strict=True) if pairs]
        for access, pairs in known:
            if 0 not in [extent for extent, _ in pairs] and not dense(pairs):
                strides = _strides(pairs)
                return f"item {item.id!r} is done in place of {access.buffer!r}, whose strides {strides} leave gaps"
            if _strides(pairs) != _strides(known[0][1]):
                return (
                    f"item {item.id!r} is done in place of {access.buffer!r} with strides {_strides(pairs)}, and of "
                    f"{known[0][0].buffer!r} with {_strides(known[0][1])}"
                )
    return None if told else SILENT


def _strides(pairs: tuple[tuple[int, int], ...]) -> list[int]:
    return [stride for _, stride in pairs]


def waited_beside(first: Facts, second: Facts) -> str | None:
    """Find what is started and not waited for in the second of two programs of one process.

    What comes later on the queue of what was started is after it in any case. So where all that items of a kind start
    has a wait in the first program, an edge is none in the second.
    """
    problem = waited(second)
    if problem:
        return problem
    always = _always_waited(first)
    waits = waits_for(second)
    for handle, numbers in second.handles.items():
        leaf, owner = second.owned[numbers[0]]
        item = owner or leaf
        if type(item) in always and not waits[handle]:
            return f"item {item.id!r} starts {handle!r}, and no item waits for it, as one does in the other program"
    return None


def _always_waited(facts: Facts) -> set[type[Item]]:
    """Return the kinds of items of which some start something, and items wait for all that they start."""
    waits = waits_for(facts)
    found: dict[bool, set[type[Item]]] = {True: set(), False: set()}
    for handle, numbers in facts.handles.items():
        leaf, owner = facts.owned[numbers[0]]
        found[waits[handle] > 0].add(type(owner or leaf))
    return found[True] - found[False]


def right_either_way(first: Facts, second: Facts) -> str | None:
    """Find a value that differs from the graph's, with passes as they are or the other way."""
    for which, facts in (("as they are", first), ("the other way", second)):
        problem = wrong_value(facts)
        if problem:
            return f"with passes and algorithms {which}, {problem}"
    return None


def alike_on_all_ranks(first: Facts, second: Facts) -> str | None:
    """Find an order or an algorithm that differs between devices which were given other estimates."""
    del first
    order = one_order(second)
    return order or one_algorithm(second) or order


COMMUNICATION_CALLS = (
    ScheduleClause(
        "communication.C12",
        "An all_reduce whose choice is known is done in one shot only where that is on, for its reduction, for an "
        "operand of no more bytes than the threshold, and of buffers of its communicator.",
        CHOICE,
        one_shot_where_allowed,
        lambda facts: any(ONE_SHOT in _words(item) for item, _ in _chosen(facts)),
    ),
    ScheduleClause(
        "communication.C13",
        "An all_reduce of one operand, which kernels have computed, and not only moved of what is given or what a call "
        "gives, is done in one shot where that is on, for its reduction and for an operand of no more bytes than the "
        "threshold.",
        CHOICE,
        one_shot_where_due,
        lambda facts: any(True for _ in _due(facts)),
        requirement="should",
    ),
    ScheduleClause(
        "communication.C14",
        "All participants do a collective by one algorithm.",
        CHOICE,
        one_algorithm,
        some_collective(lambda each: len(each.algorithms) > 1),
    ),
    ScheduleClause(
        "communication.C15",
        "Two collectives of one communicator with equal operations, attributes, dtypes and bytes of operands, choices "
        "and numbers of pieces are done by one algorithm, unless a choice is known and an operand is not computed by "
        "kernels, but given or only moved.",
        CHOICE,
        chosen_alike,
        lambda facts: any(True for _ in _alike(facts)),
        requirement="should",
    ),
    ScheduleClause(
        "communication.C16",
        "No call of several operands is done in one shot.",
        COALESCED,
        several_never_in_one_shot,
        lambda facts: bool(_pieces_of_several(facts)),
        requirement="should",
    ),
    ScheduleClause(
        "communication.C17",
        "The collectives of one operation and communicator that do one step of a program, of several operands, without "
        "parts are one call.",
        COALESCED,
        one_call_a_step,
        lambda facts: bool(_of_one_step(facts)),
        requirement="should",
    ),
    ScheduleClause(
        "communication.C18",
        "A kernel that writes a buffer which is not to be fused writes no other.",
        "torch.inductor.comm_lowering: _all_reduce",
        alone_in_its_kernel,
        some_buffer(lambda each: each.unfused),
    ),
    ScheduleClause(
        "communication.C19",
        "The operand of a collective has the strides that it had where the program was traced, or is in row-major "
        "order without gaps.",
        "torch.inductor.comm_lowering: register_comm_lowerings",
        as_traced,
        lambda facts: any(True for _ in _traced(facts)),
        requirement="should",
    ),
    ScheduleClause(
        "communication.C20",
        "A collective in one call that writes over bytes which it reads does so where elements lie without gaps, with "
        "equal strides on all participants.",
        "torch.inductor.comm_lowering: _all_reduce_",
        without_gaps,
        lambda facts: any(True for _ in _overwriting(facts)),
        requirement="should",
    ),
)

COMMUNICATION_CALLS_OF_TWO = (
    PairClause(
        "communication.C21",
        "Everything that is started in a program, after another one was compiled in the same process, is waited for: "
        "by a wait, where in the other program a wait is for all that items of its kind start.",
        "torch.inductor.comm_lowering: mark_as_skip_wait",
        "neighbours",
        waited_beside,
        lambda first, second: handled(second),
        requirement="should",
    ),
    PairClause(
        "communication.C22",
        "A graph that is scheduled with every pass and algorithm for communication switched, on where it was off and "
        "off where it was on, gives its values too.",
        "torch.inductor.comm_lowering: _one_shot_all_reduce",
        "switched",
        right_either_way,
        lambda first, second: executable(first) is None and executable(second) is None,
    ),
    PairClause(
        "communication.C23",
        "Where a cost model is given random estimates, others on each device, all participants enter collectives in "
        "orders in which none wait for one another, and do each by one algorithm.",
        "ours",
        "estimated",
        alike_on_all_ranks,
        lambda first, second: any(len(each) > 1 for each in entered(second).values()),
    ),
)
