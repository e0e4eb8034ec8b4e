"""What a program with effects asks for, and in which order things happen in it, as words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.effects import NamedValue, names
from conformance.cases.program.operations import row
from conformance.cases.program.program import COMPUTING, EFFECTS, NO_COLLECTIVES, Step, rank_groups

CAPABILITIES: Final = ("buffer", "view", "assign", "copy", "free", "into", "in_place", "overlap", "start")
"""Words of the feature ``effects``: what an implementation must be able to do at all.

``into`` writes a collective's result into storage, ``in_place`` over its own operand; ``overlap`` reads and writes
storage that is shared in any other way.
"""

FLOW: Final = (
    *("part", "feedback", "write_seen", "written_through", "old_result", "old_copy", "old_result_alone"),
    *("survives_free", "assign_overlap", "target_overlap", "crossed", "miscounted"),
    *("in_flight", "out_of_order", "done_twice", "never_done", "read_before_done", "input_overwritten"),
    *("target_overwritten", "input_freed", "started_alone", "started_over_nothing", "started_several"),
    *("started_none", "started_constant"),
)
"""Words of the feature ``flow``: in which order things happen; ``effect_words`` says what each means."""

ROUNDS: Final = 3
"""Times that a buffer is written with what came of it to be called ``feedback``: mistakes that need two captures and a
replay show in the third."""


@dataclass
class _Flight:
    """A started collective: what it reads and writes, and how many of its tickets nobody waited for yet."""

    number: int
    reads: list[NamedValue]
    writes: list[NamedValue]
    tickets: set[str]


@dataclass
class _Kept:
    """A value made from storage: it must stay what it was. ``word`` is said when that could be seen to fail."""

    name: str
    sources: list[NamedValue]
    words: tuple[str, ...]


@dataclass
class _Walk:
    """What is known so far of a program whose steps are looked at one by one."""

    case: Case
    op: str | None
    table: dict[str, NamedValue]
    last_use: dict[str, int]
    effects: set[str] = field(default_factory=set)
    flow: set[str] = field(default_factory=set)
    flights: list[_Flight] = field(default_factory=list)
    kept: list[_Kept] = field(default_factory=list)
    returned: dict[str, NamedValue] = field(default_factory=dict)
    rounds: dict[str, dict[str, int]] = field(default_factory=dict)


def effect_words(case: Case, op: str | None = None) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of the features ``effects`` and ``flow``; raise ``CaseError`` when a step is malformed.

    Where ``op`` is given, ``effects`` tells of collectives only what those of that operation ask for.

    ``flow``: ``part`` (a write through a view of less than its buffer), ``feedback``, ``write_seen`` (storage that a
    collective returned is written again and read by that name), ``written_through`` (an assign by that name),
    ``old_result`` and ``old_copy`` (used after their source is overwritten), ``old_result_alone`` (where nothing is
    exchanged), ``survives_free``, ``assign_overlap``, ``target_overlap`` (of a collective's operand and target),
    ``crossed`` (of a later operand and an earlier target), ``miscounted`` (not as many targets as results).

    Of started collectives: ``in_flight`` (several), ``out_of_order``, ``done_twice``, ``never_done``,
    ``read_before_done``, ``input_overwritten``, ``target_overwritten``, ``input_freed``, ``started_alone``,
    ``started_over_nothing``, ``started_several``, ``started_none`` and ``started_constant``.
    """
    steps = case.program.steps
    if not any(step.op in EFFECTS or step.into or step.start for step in steps):
        return frozenset(), frozenset()
    last_use = {name: index for index, step in enumerate(steps) for name in (*step.inputs, *step.into)}
    last_use.update(dict.fromkeys(case.program.results, len(steps)))
    walk = _Walk(case, op, names(case), last_use)
    for index, step in enumerate(steps):
        _look(walk, index, step)
    if any(flight.tickets for flight in walk.flights):
        walk.flow.add("never_done")
    return frozenset(walk.effects), frozenset(walk.flow)


def _look(walk: _Walk, index: int, step: Step) -> None:
    read = [walk.table[name] for name in step.inputs]
    if step.op in COMPUTING:
        _reads(walk, read)
        walk.rounds[step.outputs[0]] = _rounds_of(walk, step.inputs)
    if step.op in EFFECTS and step.op != "done":
        walk.effects.add(step.op)
    if step.op == "done":
        _wait(walk, step)
    elif step.op == "assign":
        _reads(walk, read[1:])
        _writes(walk, index, [read[0]])
        walk.flow |= {"written_through"} if step.inputs[0] in walk.returned else set()
        if read[0].meets(read[1]) and read[0] != read[1]:
            walk.effects.add("overlap")
            walk.flow.add("assign_overlap")
        _fed(walk, read[0].base, _rounds(walk, step.inputs[1]))
    elif step.op == "free":
        _free(walk, index, step.inputs[0])
    elif step.op == "copy":
        _reads(walk, read)
        walk.kept.append(_Kept(step.outputs[0], read, ("old_copy",)))
        walk.rounds[step.outputs[0]] = _rounds(walk, step.inputs[0])
    elif step.op not in NO_COLLECTIVES:
        _collective(walk, index, step, read)


def _collective(walk: _Walk, index: int, step: Step, read: list[NamedValue]) -> None:
    written = [walk.table[name] for name in step.into]
    alone = _alone(walk.case, step)
    _reads(walk, read)
    _writes(walk, index, written)
    if written:
        walk.flow |= {"miscounted"} if len(step.into) != len(step.outputs) else set()
        for effect, flow in _sharing(read, written, row(step.op).over):
            walk.effects |= {effect} if walk.op in (None, step.op) else set()
            walk.flow |= {flow} - {""}
        walk.returned.update({name: walk.table[name] for name in step.outputs if not step.start})
    if step.op == "recv":
        read = _take_off(walk, step)
    if step.op == "send":
        # It is under way from here to the recv that takes its token.
        walk.flow |= {"in_flight"} if any(flight.tickets for flight in walk.flights) else set()
        walk.flights.append(_Flight(index, read, [], set(step.outputs)))
    elif step.start:
        walk.effects |= {"start"} if walk.op in (None, step.op) else set()
        walk.flow |= set(_started(step, alone=alone))
        if any(flight.tickets for flight in walk.flights):
            walk.flow.add("in_flight")
        walk.flights.append(_Flight(index, read, written, set(step.outputs)))
    elif not written:
        words = ("old_result", "old_result_alone") if alone else ("old_result",)
        walk.kept += [_Kept(name, read, words) for name in step.outputs]
    for position, name in enumerate(step.outputs):
        source = step.inputs[position : position + 1] if len(step.inputs) == len(step.outputs) else step.inputs
        walk.rounds[name] = _rounds_of(walk, source)
    for target, name in zip(step.into, step.outputs, strict=False):
        _fed(walk, walk.table[target].base, walk.rounds[name])


def _take_off(walk: _Walk, step: Step) -> list[NamedValue]:
    """Note that the blocks of a send have arrived, and return what was sent."""
    sent: list[NamedValue] = []
    for name in step.inputs:
        waiting = [flight for flight in walk.flights if flight.tickets]
        walk.flow |= {"out_of_order"} if waiting and name not in waiting[0].tickets else set()
        for flight in waiting:
            sent += flight.reads if name in flight.tickets else []
            flight.tickets.discard(name)
    return sent


def _rounds(walk: _Walk, name: str) -> dict[str, int]:
    """Return how often each buffer was written with what came of it, for the value that ``name`` has now."""
    base = walk.table[name].base if walk.table[name].kind == "storage" else ""
    return {**({base: 0} if base else {}), **walk.rounds.get(base or name, {})}


def _rounds_of(walk: _Walk, taken: tuple[str, ...]) -> dict[str, int]:
    rounds: dict[str, int] = {}
    for one in taken:
        rounds |= _rounds(walk, one)
    return rounds


def _fed(walk: _Walk, base: str, rounds: dict[str, int]) -> None:
    again = {**rounds, **({base: rounds[base] + 1} if base in rounds else {})}
    walk.rounds[base] = again
    if again.get(base, 0) >= ROUNDS:
        walk.flow.add("feedback")


def _wait(walk: _Walk, step: Step) -> None:
    for name, output in zip(step.inputs, step.outputs, strict=True):
        waiting = [flight for flight in walk.flights if flight.tickets]
        mine = next((flight for flight in waiting if name in flight.tickets), None)
        if mine is None:
            walk.flow.add("done_twice")
        elif mine is not waiting[0]:
            walk.flow.add("out_of_order")
        for flight in walk.flights:
            flight.tickets.discard(name)
        if walk.table[output].base:
            walk.returned[output] = walk.table[output]
        walk.rounds[output] = walk.rounds.get(name, {})


def _free(walk: _Walk, index: int, base: str) -> None:
    for flight in walk.flights:
        if flight.tickets and any(one.base == base for one in flight.reads):
            walk.flow.add("input_freed")
    for kept in walk.kept:
        if any(source.base == base for source in kept.sources) and walk.last_use.get(kept.name, -1) > index:
            walk.flow.add("survives_free")


def _reads(walk: _Walk, read: list[NamedValue]) -> None:
    for flight in walk.flights:
        if flight.tickets and _any_meets(read, flight.writes):
            walk.flow.add("read_before_done")


def _writes(walk: _Walk, index: int, written: list[NamedValue]) -> None:
    for flight in walk.flights:
        if flight.tickets:
            walk.flow |= {"input_overwritten"} if _any_meets(written, flight.reads) else set()
            walk.flow |= {"target_overwritten"} if _any_meets(written, flight.writes) else set()
    for kept in walk.kept:
        if walk.last_use.get(kept.name, -1) > index and _any_meets(written, kept.sources):
            walk.flow.update(kept.words)
    for name, storage in walk.returned.items():
        if walk.last_use.get(name, -1) > index and _any_meets(written, [storage]):
            walk.flow.add("write_seen")
    for target in written:
        whole = walk.table[target.base].regions
        if any(one.shape != all_.shape for one, all_ in zip(target.regions, whole, strict=True)):
            walk.flow.add("part")


def _sharing(read: list[NamedValue], written: list[NamedValue], over: int | None = None) -> Iterator[tuple[str, str]]:
    """Yield the capability and the flow of each way in which operands and targets of one step share storage.

    ``over`` is the operand that the one result is in place of, where an operation takes several at once.
    """
    for at, target in enumerate(written):
        own = at if over is None else over
        if read[own : own + 1] != [target]:
            yield "into", ""
        for number, operand in enumerate(read):
            if operand == target and number == own:
                yield "in_place", ""
            elif operand.meets(target):
                yield "overlap", "crossed" if over is None and at < number else "target_overlap"
        if _any_meets([target], written[at + 1 :]):
            yield "overlap", ""


def _started(step: Step, *, alone: bool) -> Iterator[str]:
    if not step.inputs:
        yield "started_constant" if step.outputs else "started_none"
    if len(step.outputs) > 1:
        yield "started_several"
    if not step.axes:
        yield "started_over_nothing"
    elif alone:
        yield "started_alone"


def _alone(case: Case, step: Step) -> bool:
    try:
        return all(len(group) == 1 for group in rank_groups(case.program.mesh, step.axes, step.groups))
    except ValueError:
        return False


def _any_meets(these: list[NamedValue], those: list[NamedValue]) -> bool:
    return any(one.meets(other) for one in these for other in those)
