"""What else the suite ``liveness`` draws from: a call, as other suites draw it, for which a rank is late, or dies.

Now and then it is made again, on the same operands or on others like them. There is no other collective before it:
what clauses say of operands is said of those of the program.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from msgspec.structs import replace as replaced

from conformance.cases.case import Case, Fault
from conformance.cases.program.program import Axis
from conformance.generate import choices
from conformance.generate.calls.draft import draft, groups_of
from conformance.generate.operations import CALLS
from conformance.generate.programs.divergent_ranks import DELAY, FEW
from conformance.generate.programs.script import Script, script

_MESHES: Final = choices.sampled_from((*FEW, *FEW, *FEW, (6,), (8,), (12,)))
_OPERANDS: Final = choices.steered(["one"] * 6 + ["several", "same"], ("operands",), lambda word: (word,))
_TURNS: Final = choices.sampled_from(["first", "second", "later"]).map(("first", "second", "later").index)
"""How many calls are before the last one."""

_BOOLEANS: Final = choices.booleans()
_WRONG: Final = choices.sampled_from([False, False, True])


def late_call(draw: choices.Draw, op: str) -> Case:
    """Draw a call of ``op`` on anything it takes, now and then on what it refuses, for which a rank is late."""
    case = _called(script(draw if draw(_WRONG) else _legal_only(draw), op, once=True))
    return _with_fault(draw, case, draw(DELAY), before=draw.one(range(len(case.program.steps))))


def dying_call(draw: choices.Draw, op: str) -> Case:
    """Draw a call of ``op`` on blocks with elements, before which a rank dies, or after which.

    Whether ranks wait for each other where there is nothing to hand on is for implementations to say. What comes after
    it then is a call for which nobody waits, so that the others return what they have.
    """
    right = _legal_only(draw)
    mesh = tuple(Axis(name, size) for name, size in zip("ij", draw(_MESHES), strict=False))
    drawn = replace(draft(right, groups_of(op), mesh), once=True)
    program = Script(*CALLS[op](right, drawn, "whole"))
    if len(drawn.rank_groups()) > 1 and draw(_BOOLEANS):
        return _with_fault(draw, _called(program), None, before=0)
    nowhere = replace(drawn, axes=(), groups=None)
    single = replace(drawn, groups=tuple((position,) for position in range(drawn.positions)))
    alone, call = CALLS[op](right, nowhere if draw(_BOOLEANS) else single, "whole")
    case = _called(program, replace(program, drawn=alone, call=call))
    return _with_fault(draw, case, None, before=len(case.program.steps) - 1)


def _called(program: Script, *others: Script) -> Case:
    """Return the program of one call, on one operand or on several, made up to three times, and of ``others``."""
    draw = program.drawn.draw
    word = draw(_OPERANDS)

    def drawn() -> list[str]:
        operands = [program.input() for _ in range(2 if word == "several" else 1)]
        return [*operands, *(operands if word == "same" else ())]

    operands = drawn()
    results = program.run(*operands)
    for _ in range(draw(_TURNS)):
        results += program.run(*(drawn() if draw(_BOOLEANS) else operands))
    for other in others:
        results += other.run(other.input())
    return program.case(*results)


def _legal_only(draw: choices.Draw) -> choices.Draw:
    """Return the draw with the goal that no call is illegal: the fault of a rank is all that is wrong."""
    return choices.Draw(draw.source, draw.goals.legal())


def _with_fault(draw: choices.Draw, case: Case, delay: float | None, *, before: int) -> Case:
    """Return the program with one rank that is late for the call, or dies before it."""
    return replaced(case, faults=(Fault(rank=draw.one(range(case.program.world)), before=before, delay=delay),))
