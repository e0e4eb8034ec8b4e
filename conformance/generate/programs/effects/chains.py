"""Programs that grow as chains over a grammar of steps, of which each leaves some out.

A chain has a collective that it is drawn for, with the words that claims leave as its goals (``generate.claims``).
Before it, and after it, come steps of any class on what is there: values are handed on, also where their shapes change,
storage is viewed, written, copied and freed, collectives are started and waited for. Different chains leave different
classes out, for what is left out decides what can meet as much as what is there (Groce et al., Swarm Testing, ISSTA
2012).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from msgspec.structs import replace as replaced

from conformance.cases.case import Case
from conformance.generate import choices
from conformance.generate.calls.draft import DTYPES, Draft
from conformance.generate.calls.process_groups import PARTITIONS, place
from conformance.generate.grow import grow, words_of
from conformance.generate.programs.block_operations import CALLED, call_of
from conformance.generate.programs.effects.chain import Chain, assign, buffer, copy, free, let_go, view
from conformance.generate.programs.effects.fitting_calls import FITTING, fitted
from conformance.generate.programs.effects.mixtures import ends_with
from conformance.generate.programs.effects.programs import Script, groups_of, script
from conformance.generate.programs.effects.writes import inside
from conformance.reference.operations import TABLE
from conformance.reference.situations import CLASS_OF, CLASSES

CALLS: Final = ("reduce", "gather", "exchange", "spread", "query")
"""Classes of collectives; programs without effects have no others."""

STORING: Final = tuple(word for word in CLASSES if word not in ("start", "done"))
"""Classes of the steps of programs that start nothing."""

OPS_OF: Final = {word: tuple(op for op in FITTING if CLASS_OF[op] == word) for word in CALLS}

QUERIES: Final = tuple(
    sorted((op for op in TABLE if TABLE[op].does == "query"), key=lambda op: (TABLE[op].result == "nothing", op))
)
"""Operations that take nothing, those with a result first."""

_PLACE: Final = choices.steered(["into", "fresh", "in_place", "overlap"], ("place",), lambda word: (word,))
_START: Final = choices.steered(["waited", "no", "later", "never"], ("start",), lambda word: (word,))
_OPERANDS: Final = choices.steered(["one"] * 6 + ["several", "same", "none"], ("operands",), lambda word: (word,))
_LAYOUT: Final = choices.steered(["input", "made"], ("layout",), lambda word: (word,))
_AFTER: Final = choices.sampled_from(("nothing", *CLASSES))
_SHARING: Final = choices.steered(
    ["part", "none", "turned", "part", "none", "ordered", "stepped", "nested"], ("view",), lambda how: (how,)
)
_SOME: Final = choices.sampled_from([False, False, False, True])
_OF_OPERANDS: Final = ("written", "replaced", "freed")
_OF_TARGETS: Final = ("target_written", "target_replaced", "handed_on", "read", "assigned")
_DEEDS: Final = choices.sampled_from(["other", *_OF_OPERANDS, *_OF_TARGETS])
_STORED: Final = choices.steered([True, False, True], ("view",), lambda stored: ("" if stored else "none",))
_BOOLEANS: Final = choices.booleans()
_TWICE: Final = choices.sampled_from([False, False, True])
_LENGTH: Final = choices.integers(0, 5)
_FEW: Final = choices.integers(0, 3)


@choices.composite
def with_chains(draw: choices.Draw, op: str, domain: choices.Choice[Case]) -> Case:
    """Draw a case of a domain, or now and then a chain without effects."""
    if not draw(_SOME):
        return draw(domain)
    if op in CALLED:
        return chain(script(draw, op, once=True), effects=False, starts=False)
    return led(draw, draw(domain), CALLS)


@choices.composite
def with_leads(draw: choices.Draw, domain: choices.Choice[Case], *, starts: bool) -> Case:
    """Draw a case of a domain, and in every second one a chain before it."""
    case = draw(domain)
    return led(draw, case, CLASSES if starts else STORING) if draw(_BOOLEANS) else case


def led(draw: choices.Draw, case: Case, classes: tuple[str, ...]) -> Case:
    """Return the program with a chain of steps before it, which have nothing in common with it but the mesh."""
    drawn = Draft(
        choices.Draw(draw.source), case.program.mesh, tuple(axis.name for axis in case.program.mesh), None, "int32"
    )
    made = Chain(Script(*call_of(drawn.draw, "broadcast", drawn, "whole")))
    after = draw(_AFTER)
    words = (*words_of(draw, classes, draw(_FEW)), after)
    grow(made, _ACTS, [word for word in words if word in classes])
    lead = made.program.case(*_left(made))
    named = {name: f"lead_{name}" for name in (*lead.inputs, *made.program.names)}
    steps = tuple(
        replaced(
            step,
            inputs=tuple(named[name] for name in step.inputs),
            outputs=tuple(named[name] for name in step.outputs),
            into=tuple(named[name] for name in step.into),
        )
        for step in lead.program.steps
    )
    results = (*(named[name] for name in lead.program.results), *case.program.results)
    program = replaced(case.program, steps=(*steps, *case.program.steps), results=results)
    inputs = {named[name]: operand for name, operand in lead.inputs.items()} | case.inputs
    return replaced(case, program=program, inputs=inputs)


def chain(program: Script, *, effects: bool, starts: bool) -> Case:
    """Return a program on the script's call, without effects, with effects, and with collectives that are started."""
    made, draw = Chain(program), program.drawn.draw
    if draw(_TWICE):
        # Who keeps what a call gave, for a call like it, is wrong on other operands.
        made.results += program.run(program.input())
    classes = CALLS if not effects else CLASSES if starts else STORING
    swarm = [word for word in CLASSES if word in classes and draw(_BOOLEANS)] or list(classes)
    after = draw(_AFTER)
    length = 0 if after == "nothing" else draw(_LENGTH)
    if length:
        _three(made, tuple(words_of(draw, classes, 3)))
    grow(made, _ACTS, words_of(draw, swarm, length))
    _focus(made, after if after in classes else "nothing", effects=effects, starts=starts)
    if effects:
        # Of the collectives the last one tells under which operation a case is filed.
        later = [word for word in swarm if word not in (*CALLS, "start")] or ["copy"]
        grow(made, _ACTS, words_of(draw, later, draw(_FEW)))
    if not ends_with(program.call.op, program.steps):
        made.results += program.run(program.input())
    return program.case(*_left(made))


def _three(made: Chain, words: tuple[str, ...]) -> None:
    """Add three steps in a row, of these classes, and before them what they need."""
    for _ in range(words.count("done")):
        _start(made)
    for _ in range(words.count("free") + bool({"view", "assign", "copy", "free"} & set(words))):
        buffer(made)
    grow(made, _ACTS, words)


def _left(made: Chain) -> list[str]:
    """Return the results that were not freed."""
    freed = {step.inputs[0] for step in made.program.steps if step.op == "free"}
    return [name for name in made.results if made.storage.get(name, name) not in freed]


def _focus(made: Chain, after: str, *, effects: bool, starts: bool) -> None:
    """Add the collective that the chain is drawn for, on operands and targets of its own."""
    program, draw = made.program, made.program.drawn.draw
    how = draw(_PLACE) if effects else "fresh"
    start = draw(_START) if starts else "no"
    count = {"one": 1, "several": 2, "same": 1, "none": 0}[word := draw(_OPERANDS)]
    pairs = [_storage_for(made, how, effects=effects) for _ in range(count)]
    if (word, how) == ("several", "overlap") and made.flip():
        # One of several may share elements with its target where another does not.
        pairs[0] = program.place(), program.place(program.result, program.dtype)
    if word == "same":
        pairs += [(pairs[0][0], program.place(program.result, program.dtype) if pairs[0][1] else "")]
    bases = [program.base(name) for pair in pairs for name in pair if name]
    made.held |= set(bases)
    if after in _ACTS:
        _ACTS[after](made)
    into = tuple(target for _, target in pairs if target)
    names = program.run(*(operand for operand, _ in pairs), into=into, start=start != "no")
    made.held -= set(bases)
    made.storage |= {name: base for name, base in zip(_named(pairs), bases, strict=True) if base}
    targets = [program.base(target) for target in into] or [""] * len(names)
    for name, base in zip(names, targets, strict=True):
        if start == "no":
            made.gave(program.call.op, name, base)
        else:
            made.tickets[name] = program.call.op, base
    stored = [operand for operand, _ in pairs if program.base(operand)]
    if start == "no" and stored and not into and made.flip():
        # Who returns the operand's storage returns what is written there.
        program.assign(stored[-1], program.input(program.shapes[stored[-1]], program.dtypes[stored[-1]]))
    if names and start == "later":
        _meanwhile(made, [operand for operand, _ in pairs], into)
    if names and start in ("waited", "later"):
        left = [name for name in names if name in made.tickets]
        _wait(made, left[:: -1 if draw(_BOOLEANS) else 1])


def _meanwhile(made: Chain, operands: list[str], targets: tuple[str, ...]) -> None:
    """Add a deed on an operand or a target of what is under way, any of several, or on something else."""
    program, draw = made.program, made.draw
    deed = draw(_DEEDS)
    found = [name for name in (targets if deed in _OF_TARGETS else operands) if program.base(name)]
    if deed == "other" or not found:
        grow(made, _ACTS, words_of(draw, ("copy", "assign", "view", "buffer", "free")))
        return
    name = found[-1 - draw.source.below(len(found))]
    even = len(set(program.shapes[name])) == 1
    if deed in ("written", "target_written") or (deed in ("replaced", "target_replaced") and not even):
        program.assign(name, program.input(program.shapes[name], program.dtypes[name]))
    elif deed in ("replaced", "target_replaced"):
        replace_by = program.spread_over if deed == "target_replaced" and made.flip() else program.spread
        made.gave("broadcast", replace_by(name), program.base(name))
    elif deed == "freed":
        let_go(made, program.base(name))
    elif deed == "read":
        made.results.append(program.copy(name))
    elif deed == "assigned":
        program.assign(program.buffer(program.shapes[name], program.dtypes[name]), name)
    else:
        # Its operand is what is yet to be written, and it is waited for first.
        made.results += program.done(program.spread_from(name))


def _named(pairs: list[tuple[str, str]]) -> list[str]:
    return [name for pair in pairs for name in pair if name]


def _storage_for(made: Chain, how: str, *, effects: bool) -> tuple[str, str]:
    """Return an operand, and a target or nothing, that lie to each other as ``how`` says where they can."""
    program, draw = made.program, made.program.drawn.draw
    if how == "in_place" and program.same:
        storage = program.place()
        return storage, storage
    if how == "overlap" and program.same and len(set(program.result)) == 1 and program.result[0]:
        return _overlapping(program)
    if how == "overlap" and not program.same and (found := inside(program)):
        return found
    if draw(_LAYOUT) == "made":
        operand = _handed(made)
    else:
        operand = program.place() if effects and draw(_STORED) else program.input()
    return operand, "" if how == "fresh" else program.place(program.result, program.dtype)


def _overlapping(program: Script) -> tuple[str, str]:
    """Return two names of one buffer that share elements: it and itself turned, or views of which one is further."""
    shape, how = program.result[0], program.drawn.draw(_SHARING)
    rest = tuple(map(range, shape[1:]))
    if how in ("none", "turned") and shape[0] > 1:
        buffer = program.buffer()
        names = buffer, program.view(buffer, (range(shape[0] - 1, -1, -1), *rest))
        return names if how == "none" else names[::-1]
    each, order = 2 if how == "stepped" else 1, ()
    extents = each * (shape[0] + 1), *shape[1:]
    if how == "ordered" and rest:
        # The buffer has the first two axes in the other order.
        extents, order = (extents[1], extents[0], *extents[2:]), (1, 0, *range(2, len(shape)))
    buffer = program.buffer((extents,) * program.drawn.world)
    if how == "nested":
        buffer = program.view(buffer, (range(extents[0]), *rest))
    rows = [range(first, first + each * shape[0], each) for first in (0, each)]
    listed = [(*rest[:1], each, *rest[1:]) if order else (each, *rest) for each in rows]
    one, two = (program.view(buffer, ranges, order) for ranges in listed)
    return (one, two) if program.flip() else (two, one)


def _handed(made: Chain) -> str:
    """Return an operand that another collective made, which moved an input; now and then it is a result too."""
    program, draw = made.program, made.draw
    shape = program.call.operand[0]
    op = draw.one(("broadcast", "permute", "shuffle"))
    call = fitted(draw, op, program.drawn, shape) if len(set(program.call.operand)) == 1 else None
    if call is None or not program.drawn.rank_groups():
        return program.input()
    moved = replace(program, call=replace(call, values=program.call.values))
    (name,) = moved.run(moved.input())
    if made.flip():
        made.results.append(name)
    return name


def _collective(made: Chain, word: str, *, start: bool = False) -> None:
    """Add a collective of a class on something that is there, or on an input; it may write what it fits."""
    draw, program = made.draw, made.program
    op = draw.one(OPS_OF[word])
    found = made.uniform([*made.values, *made.storage])
    name = draw.one(found) if found and (made.flip() or made.flip()) else ""
    drawn = Draft(draw, program.drawn.mesh, (), None, program.dtypes[name] if name else draw.one(DTYPES))
    at = place(draw, groups_of(op), drawn.mesh)
    drawn = replace(drawn, axes=at.axes, groups=at.groups)
    call = fitted(draw, op, drawn, program.shapes[name][0]) if name else None
    if call is None:
        name = ""
        drawn, call = call_of(draw, op, drawn, "whole")
    other = replace(program, drawn=drawn, call=call)
    operand = name or other.input()
    fits = [target for target in made.open if other.fits(target)]
    into = (draw.one(fits),) if fits and made.flip() else ()
    (result,) = other.run(operand, into=into, start=start)
    base = made.storage[into[0]] if into else ""
    if start:
        made.tickets[result] = op, base
    else:
        made.gave(op, result, base)


def handed_to(made: Chain, name: str) -> str:
    """Hand a value to a collective of any class, and return what it gives; nothing where none takes it."""
    draw, program = made.draw, made.program
    if name not in made.uniform([name]) or program.dtypes[name] not in DTYPES:
        return ""
    op = draw.one(OPS_OF[draw.one(CALLS[:4])])
    drawn = Draft(draw, program.drawn.mesh, (), None, program.dtypes[name])
    at = place(draw, groups_of(op), drawn.mesh)
    drawn = replace(drawn, axes=at.axes, groups=at.groups)
    call = fitted(draw, op, drawn, program.shapes[name][0])
    if call is None:
        return ""
    (result,) = replace(program, drawn=drawn, call=call).run(name)
    if TABLE[op].writers == "all":
        made.values.append(result)
    return result


def _query(made: Chain) -> None:
    draw, program = made.draw, made.program
    op = draw.one(QUERIES)
    at = place(draw, PARTITIONS, program.drawn.mesh)
    drawn = replace(program.drawn, axes=at.axes, groups=at.groups)
    made.results += replace(program, drawn=drawn).query(op, {"value": 3} if "value" in TABLE[op].attributes else {})


def _start(made: Chain) -> None:
    _collective(made, made.draw.one(CALLS[:4]), start=True)


def _done(made: Chain) -> None:
    """Wait for a ticket, or again for one that was waited for."""
    if not made.tickets and not made.waited:
        _start(made)
    known = [*made.tickets, *(ticket for ticket, (_, base) in made.waited.items() if base not in made.held)]
    _wait(made, [made.draw.one(known)] if known else [])


def _wait(made: Chain, tickets: list[str]) -> None:
    for ticket in tickets:
        op, base = made.tickets.pop(ticket, ("", "")) if ticket in made.tickets else made.waited[ticket]
        made.waited[ticket] = op, base
        (name,) = made.program.done(ticket)
        made.gave(op, name, base)


_ACTS: Final[dict[str, Callable[[Chain], None]]] = {
    **{word: lambda made, word=word: _collective(made, word) for word in CALLS[:4]},  # type: ignore[misc]
    "query": _query, "start": _start, "done": _done, "buffer": buffer, "view": view, "assign": assign,
    "copy": copy, "free": free,
}  # fmt: skip
