"""Different calls in one program: of another operation, over other groups, with other attributes, of another dtype.

They share what fits: inputs, buffers, views and results of the one are operands and targets of the other. What an
operation's domain draws ends with a collective of that operation, under which its cases are filed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Final

from conformance.cases.case import Case
from conformance.cases.program.program import Step
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.calls.draft import DTYPES
from conformance.generate.calls.legal_calls import REDUCTIONS
from conformance.generate.calls.process_groups import place
from conformance.generate.programs.block_operations import CALLED, call_of
from conformance.generate.programs.effects.programs import Script, groups_of, made
from conformance.reference.operations import FOLDED

DIFFERS: Final = (
    (), ("op",), ("groups",), ("attrs",), ("op", "groups"), ("op", "dtype"), ("groups", "attrs"), ("op",), ("dtype",),
    ("op", "groups"), ("attrs",),
)  # fmt: skip
"""What is another in another call, nothing being the plain choice; its attributes are wherever the operation is.

Of a reduction they are another one: left to chance, of 1,460 cases 6 had two different all_reduces under way.
"""

ROUNDS: Final = 3

_DIFFERS: Final = choices.sampled_from(DIFFERS)
_OPS: Final = choices.sampled_from([*CALLED, "all_reduce", "all_gather", "reduce_scatter", "all_to_all"])
_DTYPES: Final = choices.sampled_from(DTYPES)
_MORE: Final = choices.sampled_from([1, 1, 2])
_PLAIN: Final = choices.sampled_from([True, True, True, False])
"""Of 76 such programs that were outside Torch's claims, 40 had a flipped layout among their several inputs."""


def beside(program: Script) -> Script:
    """Draw another call on the mesh of ``program`` that goes on with the same steps.

    It takes an operand of the first call's shapes where it can, or what is like that one's result.
    """
    draw = program.drawn.draw
    differs = draw(_DIFFERS)
    if not differs:
        return program
    op = draw(_OPS) if "op" in differs else program.call.op
    drawn = replace(program.drawn, dtype=draw(_DTYPES)) if "dtype" in differs else program.drawn
    if "groups" in differs:
        found = place(draw, groups_of(op), drawn.mesh)
        drawn = replace(drawn, axes=found.axes, groups=found.groups)
    drawn, call = call_of(draw, op, drawn, "whole")
    reduction = call.attrs.get("op")
    if reduction and call.op == program.call.op in FOLDED and "dtype" not in differs:
        reduction = draw(_unlike(kind(drawn.dtype), str(program.call.attrs["op"])))
        call = replace(call, attrs={**call.attrs, "op": reduction}, values=reduction)
    fitting = (replace(call, operand=shapes) for shapes in (program.call.operand, program.result))
    call = next((one for one in fitting if made(drawn, one)), call)
    # Reductions want data that stays exact and has an order; whoever else reads it is content with it.
    values = next((one for one in (call.values, program.call.values) if one in ("max", "min")), "")
    program.call = replace(program.call, values=values or program.call.values)
    return replace(program, drawn=drawn, call=replace(call, values=values or call.values))


def others(program: Script) -> list[Script]:
    """Draw one or two calls beside that of ``program``, before any input is drawn."""
    program.plain = program.drawn.draw(_PLAIN)
    found = [beside(program) for _ in range(program.drawn.draw(_MORE))]
    return [replace(one, call=replace(one.call, values=program.call.values)) for one in found]


def together(program: Script) -> Case:
    """Start different calls, of one operand where it fits, and wait in any order, one by one or at once."""
    calls = [*others(program), program]
    operand = calls[0].buffer() if program.flip() else calls[0].input()
    tickets: list[str] = []
    for one in calls:
        target = (one.target(),) if program.flip() else ()
        tickets += one.run(operand if one.reads(operand) else one.input(), into=target, start=True)
    order = program.drawn.draw(_orders(len(tickets)))
    if program.flip():
        return program.case(*program.done(*(tickets[at] for at in order)))
    return program.case(*(name for at in order for name in program.done(tickets[at])))


def handed_on(program: Script) -> Case:
    """Start each call on what the one before it writes, where it fits, and wait for the last first."""
    calls = [*others(program), program]
    storage = [calls[0].buffer()]
    tickets: list[str] = []
    for one in calls:
        operand = next((name for name in reversed(storage) if one.reads(name)), None) or one.input()
        fitting = [name for name in storage if one.fits(name)]
        target = program.pick(fitting) if fitting and program.flip() else one.target()
        tickets += one.run(operand, into=(target,), start=True)
        storage.append(target)
    copy = program.copy(storage[-1])
    return program.case(copy, *(name for ticket in reversed(tickets) for name in program.done(ticket)))


def parts(program: Script) -> Case:
    """Let two calls that are under way write a part each of one buffer, or one of them into the part of the other."""
    other = others(program)[0]
    mine, its = program.result[0], other.result[0]
    uniform = all(len(set(shapes)) == 1 for shapes in (program.result, other.result))
    if not uniform or not mine or mine[1:] != its[1:] or len(mine) != len(its) or program.dtype != other.dtype:
        return together(program)
    first = 0 if program.flip() else its[0]
    rows = max(its[0], first + mine[0])
    buffer = program.buffer(((rows, *mine[1:]),) * program.drawn.world, program.dtype)
    rest = tuple(map(range, mine[1:]))
    theirs = program.view(buffer, (range(its[0]), *rest))
    own = program.view(buffer, (range(first, first + mine[0]), *rest))
    tickets = (
        *other.run(own if other.reads(own) and program.flip() else other.input(), into=(theirs,), start=True),
        *program.run(program.input(), into=(own,), start=True),
    )
    return program.case(*(program.done(*reversed(tickets)) if program.flip() else ()))


def alternating(program: Script) -> Case:
    """Let two calls write what the other one reads, three times, where they fit."""
    other = others(program)[0]
    one, two = program.buffer(), other.target()
    names: list[str] = []
    for _ in range(ROUNDS):
        names += other.run(one if other.reads(one) else two if other.reads(two) else other.input(), into=(two,))
        names += program.run(two, into=(one,)) if program.reads(two) and program.fits(one) else program.run(one)
    return program.case(*names)


def ends_with(op: str, steps: list[Step]) -> bool:
    """Return whether the last collective of a program is of ``op``, so that its cases are filed there."""
    return next((step.op for step in reversed(steps) if step.op in CALLED), None) == op


@cache
def _unlike(family: str, reduction: str) -> choices.Choice[str]:
    """Return the reductions of a family of dtypes but one."""
    return choices.sampled_from([name for name in REDUCTIONS[family] if name != reduction])


@cache
def _orders(count: int) -> choices.Choice[tuple[int, ...]]:
    return choices.permutations(range(count)).map(tuple)
