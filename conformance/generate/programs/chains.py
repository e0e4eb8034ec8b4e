"""Programs that grow as chains over a grammar of steps, of which each leaves some out.

A chain has a collective that it is drawn for, with the words that claims leave as its goals (``generate.claims``).
Before it, and after it, come steps of any class on what is there: values are handed on, also where their shapes change,
storage is viewed, written, copied and freed, collectives are started and waited for, and, where they are to, ranks
compute. Different chains leave different classes out, for what is left out decides what can meet as much as what is
there (Groce et al., Swarm Testing, ISSTA 2012).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.program import COMPUTING, NO_COLLECTIVES
from conformance.generate import choices
from conformance.generate.calls.draft import DTYPES, Draft, groups_of
from conformance.generate.calls.process_groups import PARTITIONS, place
from conformance.generate.calls.vocabulary import call_of
from conformance.generate.grow import grow, words_of
from conformance.generate.operations import CALLED
from conformance.generate.operations import CALLS as CALL_OF
from conformance.generate.programs.chain import Chain, assign, buffer, copy, free, let_go, view, write
from conformance.generate.programs.computing import compute, computed
from conformance.generate.programs.messages import Messages, begun
from conformance.generate.programs.overlaps import inside, overlapping
from conformance.generate.programs.script import Script
from conformance.reference.operations import TABLE
from conformance.reference.situations import CLASS_OF, CLASSES

CALLS: Final = ("reduce", "gather", "exchange", "spread", "query")
"""Classes of collectives."""

STARTING: Final = ("start", "done")
"""Classes that programs which start nothing have none of, as those without effects have no storage."""

OPS_OF: Final = {word: tuple(op for op in CALLED if CLASS_OF[op] == word) for word in CALLS}

QUERIES: Final = tuple(
    sorted((op for op in TABLE if TABLE[op].does == "query"), key=lambda op: (TABLE[op].result == "nothing", op))
)
"""Operations that take nothing, those with a result first."""

_PLACE: Final = choices.steered(["into", "fresh", "in_place", "overlap"], ("place",), lambda word: (word,))
_START: Final = choices.steered(["waited", "no", "later", "later", "never"], ("start",), lambda word: (word,))
_OPERANDS: Final = choices.steered(["one"] * 6 + ["several", "same", "none"], ("operands",), lambda word: (word,))
_LAYOUT: Final = choices.steered(["input", "made", "input"], ("layout",), lambda word: (word,))
_AFTER: Final = choices.sampled_from(("nothing", *CLASSES))
_SOME: Final = choices.sampled_from([False, False, False, True])
_AGAIN: Final = choices.sampled_from([0, 0, 2, 1, 3])
_OF_OPERANDS: Final = ("written", "replaced", *["freed"] * 2)
_OF_TARGETS: Final = ("target_written", "target_replaced", *["target_freed"] * 2, "handed_on", "read", "assigned")
_STORED: Final = choices.steered([True, False, True], ("view",), lambda stored: ("" if stored else "none",))
_BOOLEANS: Final = choices.booleans()
_TWICE: Final = choices.sampled_from([False, False, True])
_LENGTH: Final = choices.integers(0, 8)
_FEW: Final = choices.integers(0, 3)
_OFTEN: Final = choices.sampled_from([True, True, True, False])


@choices.composite
def with_chains(draw: choices.Draw, op: str, domain: choices.Choice[Case]) -> Case:
    """Draw a case of a domain, or now and then a chain without effects."""
    if op not in (*CALLED, "recv", "ragged_all_to_all") or not draw(_SOME):
        return draw(domain)
    return chain(begun(draw, op), effects=False, starts=False)


def chain(program: Script, *, effects: bool, starts: bool, computes: bool = False, short: bool = False) -> Case:
    """Return a program on the script's call, without effects, with effects, and with collectives that are started.

    In one that ``computes`` ranks compute before the call, while it is under way, and after it. A ``short`` one, as one
    of three is, has no step before the call or behind it but what the call needs.
    """
    made, draw = Chain(program, effects=effects, computes=computes), program.drawn.draw
    short = short or draw(_TWICE)
    if not short and draw(_TWICE):
        # Who keeps what a call gave, for a call like it, is wrong on other operands.
        made.results += program.run(program.input())
    left = [word for word in CLASSES if word in CALLS or (starts if word in STARTING else effects)]
    classes = (*left, *["compute"] * 6 * computes)
    swarm = [word for word in dict.fromkeys(classes) if draw(_BOOLEANS)] or list(classes)
    after = "nothing" if short and draw(_BOOLEANS) else draw(_AFTER)
    length = 0 if short or after == "nothing" else draw(_LENGTH)
    grow(made, ACTS, words_of(draw, swarm, length))
    _focus(made, after if after in classes else "nothing", starts=starts)
    if computes:
        grow(made, ACTS, ["compute last"] * (1 + draw(_FEW)))
    if effects and not short:
        later = [word for word in swarm if word not in (*CALLS, "start")] or ["copy"]
        grow(made, ACTS, words_of(draw, later, draw(_FEW)))
    # Of the collectives the last one tells under which operation a case is filed.
    if [step.op for step in program.steps if step.op not in NO_COLLECTIVES][-1:] != [program.op]:
        made.results += program.run(_operand(made))
    # What nobody asks for may be computed in any way; but who is to blame is told by what is asked for.
    shown = [step.outputs[0] for step in program.steps if step.op in COMPUTING] if draw(_OFTEN) else []
    return program.case(*shown, *_left(made))


def _left(made: Chain) -> list[str]:
    """Return the results that were not freed."""
    freed = {step.inputs[0] for step in made.program.steps if step.op == "free"}
    return [name for name in made.results if made.storage.get(name, name) not in freed]


def _focus(made: Chain, after: str, *, starts: bool) -> None:
    """Add the collective that the chain is drawn for, on operands and targets of its own.

    What is sent is under way as what is started is.
    """
    program, draw = made.program, made.program.drawn.draw
    sends = isinstance(program, Messages)
    how = draw(_PLACE) if made.effects else "fresh"
    start = draw(_START) if starts or sends else "no"
    count = {"one": 1, "several": 2, "same": 1, "none": 0}[word := draw(_OPERANDS)]
    pairs = [_storage_for(made, how) for _ in range(count)]
    if (word, how) == ("several", "overlap") and made.flip():
        # One of several may share elements with its target where another does not.
        pairs[0] = program.place(), program.place(program.result, program.dtype)
    if word == "same":
        pairs += [(pairs[0][0], program.place(program.result, program.dtype) if pairs[0][1] else "")]
    named = [name for pair in pairs for name in pair if name]
    bases = [program.base(name) for name in named]
    made.held |= set(bases)
    if after in ACTS:
        ACTS[after](made)
    into = tuple(target for _, target in pairs if target)
    names = program.run(*(operand for operand, _ in pairs), into=into, start=start != "no")
    made.held -= set(bases)
    made.storage |= {name: base for name, base in zip(named, bases, strict=True) if base}
    targets = [program.base(target) for target in into] or [""] * len(names)
    for name, base in zip(names, targets, strict=True):
        if start == "no":
            made.gave(program.op, name, base)
        else:
            made.tickets[name] = program.op, base
    if start == "no" and how == "in_place" and program.same:
        _again(made, into, draw(_AGAIN))
    stored = [operand for operand, _ in pairs if program.base(operand)]
    shared = {program.base(target) for target in into}
    apart = [operand for operand in stored if program.base(operand) not in shared]
    if start == "no" and apart and draw(_OFTEN):
        # Who returns the operand's storage returns what is written there, and who is slow reads it.
        write(made, apart[-1])
    if names and start == "later":
        _meanwhile(made, [*(operand for operand, _ in pairs), *program.beside], into)
    if names and start in ("waited", "later"):
        left = [name for name in names if name in made.tickets]
        _wait(made, left[:: -1 if draw(_BOOLEANS) else 1])


def _again(made: Chain, places: tuple[str, ...], count: int) -> None:
    """Use the collective in its places as often again, as a loop does, now and then with a result of its own before."""
    program = made.program
    for _ in range(count):
        made.results += program.run(*places) if made.flip() else ()
        for name, target in zip(program.run(*places, into=places), places, strict=True):
            made.gave(program.op, name, program.base(target))


def _meanwhile(made: Chain, operands: list[str], targets: tuple[str, ...]) -> None:
    """Add a deed on an operand or a target of what is under way, any of several, on something else, or its like."""
    program, draw = made.program, made.draw
    found = {"operand": [name for name in operands if program.base(name)], "target": [*filter(program.base, targets)]}
    deeds = [*(_OF_OPERANDS if found["operand"] else ()), *(_OF_TARGETS if found["target"] else ())]
    deed = draw.one(("other", *deeds, "alike"))
    if made.computes:
        grow(made, ACTS, ["compute"] * draw(_FEW))
    if deed == "alike" and program.op in CALL_OF:
        _collective(made, (program.op,), start=True)
        _wait(made, [*made.tickets][-1:])
        return
    if deed in ("other", "alike"):
        if made.effects:
            grow(made, ACTS, words_of(draw, ("copy", "assign", "view", "buffer", "free", "start")))
        return
    name = draw.one(found["target" if deed in _OF_TARGETS else "operand"][::-1])
    like = program.shapes[name], program.dtypes[name]
    even = len(set(like[0])) == 1
    if deed in ("written", "target_written") or (deed in ("replaced", "target_replaced") and not even):
        if made.computes and made.flip():
            program.assign(name, computed(made, *like))
        else:
            write(made, name)
    elif deed in ("replaced", "target_replaced"):
        source = program.input(*like) if deed == "target_replaced" and made.flip() else name
        made.gave("broadcast", program.spread(source, (name,)), program.base(name))
    elif deed in ("freed", "target_freed"):
        let_go(made, program.base(name))
    elif deed == "read":
        made.results.append(program.copy(name))
    elif deed == "assigned":
        program.assign(program.buffer(*like), name)
    else:
        # Its operand is what is yet to be written, and it is waited for first.
        made.results += program.done(program.spread(name, start=True))


def _storage_for(made: Chain, how: str) -> tuple[str, str]:
    """Return an operand, and a target or nothing, that lie to each other as ``how`` says where they can."""
    program, draw = made.program, made.program.drawn.draw
    if how == "in_place" and program.same:
        storage = program.place()
        if made.computes:
            program.assign(storage, _operand(made))
        return storage, storage
    if how == "overlap" and program.same and len(set(program.result)) == 1 and program.result[0]:
        return overlapping(program)
    # In place of an operand is its piece too, where peers still read.
    if how in ("in_place", "overlap") and not program.same and (found := inside(program)):
        return found
    if made.computes:
        operand = _operand(made)
    elif draw(_LAYOUT) == "made":
        operand = _handed(made)
    else:
        operand = program.place() if made.effects and draw(_STORED) else program.input()
    return operand, "" if how == "fresh" else program.place(program.result, program.dtype)


def _operand(made: Chain) -> str:
    """Return an operand of the call: an input, or what ranks computed."""
    program = made.program
    if made.computes and made.draw(_OFTEN):
        return computed(made, program.call.operand, program.drawn.dtype)
    return program.input()


def _handed(made: Chain) -> str:
    """Return an operand that another collective made, which moved an input; now and then it is a result too."""
    program, draw = made.program, made.draw
    shape = program.call.operand[0]
    op = draw.one(("broadcast", "permute", "shuffle"))
    found = call_of(draw, op, program.drawn, shape) if len(set(program.call.operand)) == 1 else None
    if found is None or not program.drawn.rank_groups():
        return program.input()
    moved = program.other(program.drawn, replace(found[1], values=program.call.values))
    (name,) = moved.run(moved.input())
    if made.flip():
        made.results.append(name)
    return name


def _placed(made: Chain, op: str, dtype: str) -> Draft:
    """Draw where another call on the mesh takes place."""
    at = place(made.draw, groups_of(op), made.program.drawn.mesh)
    return Draft(made.draw, at.mesh, at.axes, at.groups, dtype)


def _collective(made: Chain, ops: Sequence[str], *, start: bool = False) -> None:
    """Add one of several collectives on something that is there, or on an input; it may write what it fits."""
    draw, program = made.draw, made.program
    op = draw.one(ops)
    there = made.uniform([*made.values, *made.storage])
    name = draw.one(there) if there and (made.flip() or made.flip()) else ""
    drawn = _placed(made, op, program.dtypes[name] if name else draw.one(DTYPES))
    # Of an operation whose ranks have unlike blocks no value is an operand.
    found = call_of(draw, op, drawn, program.shapes[name][0]) if name and TABLE[op].differ == "nothing" else None
    name = name if found else ""
    other = program.other(*(found or CALL_OF[op](draw, drawn, "whole")))
    operand = name or other.input()
    fits = [target for target in made.open if other.fits(target)]
    into = (draw.one(fits),) if fits and made.flip() else ()
    (result,) = other.run(operand, into=into, start=start)
    base = made.storage[into[0]] if into else ""
    if start:
        made.tickets[result] = op, base
    else:
        made.gave(op, result, base)


def _query(made: Chain) -> None:
    op = made.draw.one(QUERIES)
    at = place(made.draw, PARTITIONS, made.program.drawn.mesh)
    drawn = replace(made.program.drawn, axes=at.axes, groups=at.groups)
    attrs = {"value": made.draw.one((3, 1, -3))} if "value" in TABLE[op].attributes else {}
    made.results += made.program.other(drawn, made.program.call).query(op, attrs)


def _start(made: Chain) -> None:
    _collective(made, OPS_OF[made.draw.one(CALLS[:4])], start=True)


def _done(made: Chain) -> None:
    """Wait for a ticket, or again for one that was waited for."""
    if not made.tickets and not made.waited:
        _start(made)
    known = [*made.tickets, *(ticket for ticket, (_, base) in made.waited.items() if base not in made.held)]
    _wait(made, [made.draw.one(known)] if known else [])


def _wait(made: Chain, tickets: list[str]) -> None:
    for ticket in tickets:
        op, base = made.tickets.pop(ticket, ("", "")) if ticket in made.tickets else made.waited[ticket]
        if op != "recv":  # which takes its token
            made.waited[ticket] = op, base
        (name,) = made.program.done(ticket)
        made.gave(op, name, base)


def _compute_last(made: Chain) -> None:
    """Compute on the last result, mostly."""
    last = made.results[-1:] if made.draw(_OFTEN) else []
    compute(made, *last)


ACTS: Final[dict[str, Callable[[Chain], object]]] = {
    # mypy infers no type of a lambda that has a default.
    **{word: lambda made, word=word: _collective(made, OPS_OF[word]) for word in CALLS[:4]},  # type: ignore[misc]
    "query": _query, "start": _start, "done": _done, "buffer": buffer, "view": view, "assign": assign,
    "copy": copy, "free": free, "compute": compute, "compute last": _compute_last,
}  # fmt: skip
"""The vocabulary: a step for each class."""
