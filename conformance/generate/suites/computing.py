"""How the suite computing is drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.program import COMPUTING
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.calls.decisive_values import Family
from conformance.generate.calls.draft import DTYPES
from conformance.generate.calls.legal_calls import Shapes
from conformance.generate.deal import dealing
from conformance.generate.programs.block_operations import CALLED
from conformance.generate.programs.effects.chain import Chain
from conformance.generate.programs.effects.chains import handed_to
from conformance.generate.programs.effects.computing import ACC, compute, computed, recommended
from conformance.generate.programs.effects.mixtures import beside, ends_with
from conformance.generate.programs.effects.programs import Script, script
from conformance.reference.operations import TABLE

_DTYPES: Final = choices.within(DTYPES, "computed")
_START: Final = choices.steered(["later", "no", "waited", "later"], ("start",), lambda word: (word,))
_PLACE: Final = choices.steered(["fresh", "fresh", "into", "in_place"], ("place",), lambda word: (word,))
_FEW: Final = choices.integers(0, 2)
_SOME: Final = choices.integers(1, 3)
_BOOLEANS: Final = choices.booleans()
_MOTIF: Final = choices.sampled_from([False] * 5 + [True])
_MEANWHILE: Final = choices.sampled_from(["compute", "over", "other", "compute"])
_KINDS: Final = choices.sampled_from(["whole", "whole", "any"])
_OFTEN: Final = choices.sampled_from([True, True, True, False])
_STORED: Final = choices.steered([False, True], ("view",), lambda stored: ("" if stored else "none",))


@choices.composite
def grown(draw: choices.Draw, op: str) -> Case:
    """Draw a chain: steps that compute before a call of ``op``, while it is under way, and after it; or a motif."""
    if draw(_MOTIF):
        return draw(motifs(op))
    made = Chain(script(draw, op, shapes=draw(_KINDS), once=True, dtype=_claimed(draw)))
    for _ in range(draw(_FEW)):
        compute(made)
    how = draw(_START)
    others: list[str] = _started_before(made) if how != "no" and made.flip() else []
    tickets: list[str] = [*others, *_called(made, draw(_PLACE), start=how != "no")]
    if how == "later":
        for _ in range(draw(_SOME)):
            tickets += _meanwhile(made, draw(_MEANWHILE))
    for ticket in tickets[::-1] if made.flip() else tickets:
        _wait(made, ticket)
    for _ in range(draw(_SOME)):
        last = made.results[-1] if made.results else ""
        compute(made, last if made.draw(_OFTEN) else "")
        if made.flip() and (given := handed_to(made, made.results[-1])):
            made.results.append(given)
    if not ends_with(op, made.program.steps):
        made.results += made.program.run(_operand(made))
    # What nobody asks for may be computed in any way; but who is to blame is told by what is asked for.
    shown = [step.outputs[0] for step in made.program.steps if step.op in COMPUTING] if draw(_OFTEN) else []
    return made.program.case(*shown, *made.results)


def _claimed(draw: choices.Draw) -> str | None:
    """Draw a dtype where claims list those that are computed in, and the one that is a goal is none of them."""
    listed = draw.goals.limits.get("computed", ())
    return draw(_DTYPES) if listed and draw.goals.levels.get("dtype") not in listed else None


def _operand(made: Chain, *, stored: bool = False) -> str:
    """Return an operand of the call that a step computed, be it assigned to storage; now and then an input."""
    program = made.program
    shapes, dtype = program.call.operand, program.drawn.dtype
    name = computed(made, shapes, dtype) if made.draw(_OFTEN) else program.input()
    if not stored:
        return name
    held = program.place(shapes)
    program.assign(held, name)
    made.storage[held] = program.base(held)
    return held


def _called(made: Chain, place: str, *, start: bool) -> list[str]:
    """Use the call on an operand; return its tickets, or note its results."""
    program = made.program
    in_place = place == "in_place" and program.same
    operand = _operand(made, stored=in_place or program.drawn.draw(_STORED))
    into = (operand,) if in_place else (program.place(program.result, program.dtype),) if place == "into" else ()
    names = program.run(operand, into=into, start=start)
    if program.base(operand):
        made.held.add(program.base(operand))
    base = program.base(into[0]) if into else ""
    for name in names:
        if start:
            made.tickets[name] = program.call.op, base
        else:
            made.gave(program.call.op, name, base)
    return list(names) if start else []


def _started_before(made: Chain) -> list[str]:
    """Start another call: of another operation, group, reduction or dtype."""
    program = made.program
    # What may be applied again and again is all that the other call is drawn from.
    other = beside(replace(program, drawn=replace(program.drawn, once=False)))
    operand = computed(Chain(other), other.call.operand, other.drawn.dtype) if made.flip() else other.input()
    names = other.run(operand, start=True)
    made.tickets |= dict.fromkeys(names, (other.call.op, ""))
    return list(names)


def _meanwhile(made: Chain, deed: str) -> list[str]:
    """Do something while calls are under way; return the tickets of what is started."""
    program = made.program
    if deed == "other":
        return _started_before(made)
    held = [name for name, base in made.storage.items() if base in made.held]
    if deed == "compute" or not held:
        compute(made)
        return []
    name = made.draw.one(held)
    program.assign(name, _like(made, program.shapes[name], program.dtypes[name]))
    return []


def _like(made: Chain, shapes: Shapes, dtype: str) -> str:
    """Return something computed of what is under way, or of something else."""
    return computed(made, shapes, dtype)


def _wait(made: Chain, ticket: str) -> None:
    op, base = made.tickets.pop(ticket)
    (name,) = made.program.done(ticket)
    made.gave(op, name, base)


def _computable(program: Script, name: str) -> bool:
    """Return whether every rank has a result of the call, of a dtype that no recommendation settles."""
    return TABLE[program.call.op].writers == "all" and name not in recommended(program)


def scaled(program: Script) -> Case:
    """Square the operand before it meets the others, and the result after: each is another one in the other order."""
    made = Chain(program)
    operand = program.input()
    before = program.compute("alu", operand, operand, op="mul")
    (name,) = program.run(before)
    made.results += [before, name]
    if _computable(program, name):
        made.results.append(program.compute("alu", name, name, op="mul"))
    return program.case(*made.results)


def narrowed(program: Script) -> Case:
    """Convert before a collective, and back after it, as gradients are: conversions do not commute with sums."""
    wide = "float32" if program.drawn.dtype in ("float16", "bfloat16") else "int32"
    values = Family("sum", "near") if wide == "float32" else ""
    sent = program.compute("cast", program.input(None, wide, values=values), to=program.drawn.dtype)
    (name,) = program.run(sent)
    back = (program.compute("cast", name, to=wide),) if _computable(program, name) else ()
    return program.case(sent, name, *back)


def biased(program: Script) -> Case:
    """Multiply and add before a collective, as an epilogue does, which a compiler may round once."""
    values = Family("sum", "near") if kind(program.drawn.dtype) == "float" else ""
    one, two, bias = (program.input(values=values) for _ in range(3))
    product = program.compute("alu", one, two, op="mul")
    total = program.compute("alu", product, bias, op="add")
    return program.case(total, *program.run(total))


def multiplied(program: Script) -> Case:
    """Multiply parts of matrices, and let their products meet."""
    made = Chain(program)
    shapes, dtype = program.call.operand, program.drawn.dtype
    if len(set(shapes)) > 1:
        return scaled(program)
    first, rest = shapes[0][:1], shapes[0][1:]
    near = Family("sum", "near") if kind(dtype) == "float" else ""
    left, right = (program.input((side,) * len(shapes), dtype, values=near) for side in ((*first, 3), (3, *rest)))
    acc = {"acc": ACC[dtype][0]} if program.flip() else {}
    product = program.compute("dot", left, right, **acc)
    (name,) = program.run(product)
    made.results.append(product)
    made.gave(program.call.op, name, "")
    compute(made, name)
    return program.case(*made.results)


def overwritten(program: Script) -> Case:
    """Compute while a call is under way, and write what was computed over its operand."""
    storage = program.buffer()
    tickets = program.run(storage, start=True)
    program.assign(storage, program.compute("alu", storage, program.input(), op="mul"))
    later = program.compute("alu", storage, storage, op="add")
    return program.case(later, *program.done(*tickets))


def kept(program: Script) -> Case:
    """Overwrite storage that a step has computed with, and use what it computed."""
    storage = program.buffer()
    before = program.compute("alu", storage, storage, op="add")
    program.assign(storage, program.input())
    return program.case(before, *program.run(before))


PLAIN: Final = (scaled, narrowed, multiplied, biased)
STORING: Final = (overwritten, kept)
_PLAIN: Final = choices.sampled_from(PLAIN)
_ANY: Final = choices.steered((*PLAIN, *STORING), ("start",), lambda each: ("no" if each in PLAIN else "later",))
_DTYPE: Final = choices.within(["int8", "float32", "int32", "bfloat16", "float16"], "computed")


@choices.composite
def motifs(draw: choices.Draw, op: str) -> Case:
    """Draw a program as training steps have them, or one that shows something in particular."""
    program = script(draw, op, shapes="whole", once=True, dtype=draw(_DTYPE))
    template = draw(_ANY)
    return template(program)


SUITE: Final = "computing"

DOMAINS: Final = {op: dealing(f"{SUITE} {op}", grown(op), motif=motifs(op)) for op in CALLED}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.4
"""The part of a run's examples that is drawn for each operation of the suite."""
