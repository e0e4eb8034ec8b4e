"""What a program with effects asks for, and in which order things happen in it, as words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.effects import NamedValue, names
from conformance.cases.program.operations import row
from conformance.cases.program.program import COMPUTING, EFFECTS, NO_COLLECTIVES, Step, rank_groups
from conformance.cases.program.witnesses import Witness, Witnesses, made, of

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
    """A started collective: what it reads and writes, what it makes, and its tickets that nobody waited for yet."""

    reads: list[NamedValue]
    writes: list[NamedValue]
    made: list[Witness]
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
    effects: Witnesses = field(default_factory=dict)
    flow: Witnesses = field(default_factory=dict)
    flights: list[_Flight] = field(default_factory=list)
    kept: list[_Kept] = field(default_factory=list)
    returned: dict[str, NamedValue] = field(default_factory=dict)
    rounds: dict[str, dict[str, int]] = field(default_factory=dict)

    def needs(self, effect: str, seen: Iterable[Witness] = ()) -> None:
        """Note a word of ``effects``, and what shows whether it was done rightly."""
        self.effects.setdefault(effect, []).extend(seen)

    def happens(self, flow: str, seen: Iterable[Witness] = ()) -> None:
        """Note a word of ``flow``, and what shows whether it was done rightly."""
        self.flow.setdefault(flow, []).extend(seen)


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
    effects, flow = effect_witnesses(case, op)
    return frozenset(effects), frozenset(flow)


def effect_witnesses(case: Case, op: str | None = None) -> tuple[Witnesses, Witnesses]:
    """Return the same words, each with what shows whether that was done rightly.

    Nothing shows of what steps only ask for, and all there is of a collective that nobody waits for.
    """
    steps = case.program.steps
    if not any(step.op in EFFECTS or step.into or step.start for step in steps):
        return {}, {}
    last_use = {name: index for index, step in enumerate(steps) for name in (*step.inputs, *step.into)}
    last_use.update(dict.fromkeys(case.program.results, len(steps)))
    walk = _Walk(case, op, names(case), last_use)
    for index, step in enumerate(steps):
        _look(walk, index, step)
    if any(flight.tickets for flight in walk.flights):
        walk.happens("never_done", (of(walk.table, name, len(steps) - 1) for name in case.program.results))
    return walk.effects, walk.flow


def _look(walk: _Walk, index: int, step: Step) -> None:
    read = [walk.table[name] for name in step.inputs]
    given = made(walk.table, index, step)
    if step.op in COMPUTING:
        _reads(walk, read, given)
        walk.rounds[step.outputs[0]] = _rounds_of(walk, step.inputs)
    if step.op in EFFECTS and step.op != "done":
        walk.needs(step.op)
    if step.op == "done":
        _wait(walk, index, step)
    elif step.op == "assign":
        _reads(walk, read[1:], given)
        _writes(walk, index, [read[0]])
        if step.inputs[0] in walk.returned:
            walk.happens("written_through", given)
        if read[0].meets(read[1]) and read[0] != read[1]:
            walk.needs("overlap")
            walk.happens("assign_overlap", given)
        _fed(walk, index, read[0].base, _rounds(walk, step.inputs[1]))
    elif step.op == "free":
        _free(walk, index, step.inputs[0])
    elif step.op == "copy":
        _reads(walk, read, given)
        walk.kept.append(_Kept(step.outputs[0], read, ("old_copy",)))
        walk.rounds[step.outputs[0]] = _rounds(walk, step.inputs[0])
    elif step.op not in NO_COLLECTIVES:
        _collective(walk, index, step, read, given)


def _collective(walk: _Walk, index: int, step: Step, read: list[NamedValue], given: list[Witness]) -> None:
    written = [walk.table[name] for name in step.into]
    alone = _alone(walk.case, step)
    _reads(walk, read, given)
    _writes(walk, index, written)
    if written:
        _into(walk, step, read, written, given)
    if step.op == "recv":
        read = _take_off(walk, step, given)
    if step.op == "send":
        # It is under way from here to the recv that takes its token.
        _take_flight(walk, _Flight(read, [], given, set(step.outputs)))
    elif step.start:
        if walk.op in (None, step.op):
            walk.needs("start", given)
        for word in _started(step, alone=alone):
            walk.happens(word, given)
        _take_flight(walk, _Flight(read, written, given, set(step.outputs)))
    elif not written:
        words = ("old_result", "old_result_alone") if alone else ("old_result",)
        walk.kept += [_Kept(name, read, words) for name in step.outputs]
    for position, name in enumerate(step.outputs):
        source = step.inputs[position : position + 1] if len(step.inputs) == len(step.outputs) else step.inputs
        walk.rounds[name] = _rounds_of(walk, source)
    for target, name in zip(step.into, step.outputs, strict=False):
        _fed(walk, index, walk.table[target].base, walk.rounds[name])


def _into(walk: _Walk, step: Step, read: list[NamedValue], written: list[NamedValue], given: list[Witness]) -> None:
    """Note that a collective writes into storage."""
    if len(step.into) != len(step.outputs):
        walk.happens("miscounted")
    for effect, flow in _sharing(read, written, row(step.op).over):
        if walk.op in (None, step.op):
            walk.needs(effect, given)
        if flow:
            walk.happens(flow, given)
    walk.returned.update({name: walk.table[name] for name in step.outputs if not step.start})


def _take_flight(walk: _Walk, flight: _Flight) -> None:
    """Note that a collective is under way from here on, beside others."""
    others = [other for other in walk.flights if other.tickets]
    if others:
        walk.happens("in_flight", [each for other in (*others, flight) for each in other.made])
    walk.flights.append(flight)


def _take_off(walk: _Walk, step: Step, given: list[Witness]) -> list[NamedValue]:
    """Note that the blocks of a send have arrived, and return what was sent."""
    sent: list[NamedValue] = []
    for name in step.inputs:
        waiting = [flight for flight in walk.flights if flight.tickets]
        if waiting and name not in waiting[0].tickets:
            walk.happens("out_of_order", [*given, *waiting[0].made])
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


def _fed(walk: _Walk, index: int, base: str, rounds: dict[str, int]) -> None:
    again = {**rounds, **({base: rounds[base] + 1} if base in rounds else {})}
    walk.rounds[base] = again
    if again.get(base, 0) >= ROUNDS:
        walk.happens("feedback", [Witness(storage=walk.table[base], after=index)])


def _wait(walk: _Walk, index: int, step: Step) -> None:
    for name, output in zip(step.inputs, step.outputs, strict=True):
        waiting = [flight for flight in walk.flights if flight.tickets]
        mine = next((flight for flight in waiting if name in flight.tickets), None)
        what = walk.table[output]
        if mine is None:
            walk.happens("done_twice", [of(walk.table, output, index)])
        elif mine is not waiting[0]:
            walk.happens("out_of_order", [*mine.made, *waiting[0].made])
        for flight in walk.flights:
            flight.tickets.discard(name)
        if what.base:
            walk.returned[output] = what
        walk.rounds[output] = walk.rounds.get(name, {})


def _free(walk: _Walk, index: int, base: str) -> None:
    for flight in walk.flights:
        if flight.tickets and any(one.base == base for one in flight.reads):
            walk.happens("input_freed", flight.made)
    for kept in walk.kept:
        if any(source.base == base for source in kept.sources) and walk.last_use.get(kept.name, -1) > index:
            walk.happens("survives_free", [Witness(kept.name, after=index)])


def _reads(walk: _Walk, read: list[NamedValue], given: list[Witness]) -> None:
    for flight in walk.flights:
        if flight.tickets and _any_meets(read, flight.writes):
            walk.happens("read_before_done", given)


def _writes(walk: _Walk, index: int, written: list[NamedValue]) -> None:
    now = [Witness(storage=target, after=index) for target in written]
    for flight in walk.flights:
        if flight.tickets and _any_meets(written, flight.reads):
            walk.happens("input_overwritten", flight.made)
        if flight.tickets and _any_meets(written, flight.writes):
            walk.happens("target_overwritten", now)
    for kept in walk.kept:
        if walk.last_use.get(kept.name, -1) > index and _any_meets(written, kept.sources):
            for word in kept.words:
                walk.happens(word, [Witness(kept.name, after=index)])
    for name, storage in walk.returned.items():
        if walk.last_use.get(name, -1) > index and _any_meets(written, [storage]):
            walk.happens("write_seen", now)
    for target in written:
        whole = walk.table[target.base]
        if any(one.shape != all_.shape for one, all_ in zip(target.regions, whole.regions, strict=True)):
            walk.happens("part", [Witness(storage=whole, after=index)])


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
