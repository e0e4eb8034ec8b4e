"""What else the suite ``liveness`` draws from: one call, as other suites draw it, whose ranks part, are late or die.

There is no other collective before it: what clauses say of operands is said of those of the program.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace as replaced

from conformance.cases.case import Case, Fault
from conformance.cases.program.program import Axis
from conformance.specs.domains import choices
from conformance.specs.domains.domain import Draft, draft
from conformance.specs.scenarios.block_operations import call_of
from conformance.specs.scenarios.divergent_ranks import DELAY, FEW
from conformance.specs.scenarios.effects.programs import Script, groups_of, script

_FEW: Final = choices.sampled_from(FEW)
_OPERANDS: Final = choices.steered(["one"] * 6 + ["several", "same"], ("operands",), lambda word: (word,))


def late_call(draw: choices.Draw, op: str) -> Case:
    """Draw a call of ``op`` on anything it takes, for which a rank is late."""
    case = _called(script(_rightly(draw), op, once=True))
    return _befallen(draw, case, draw(DELAY))


def dying_call(draw: choices.Draw, op: str) -> Case:
    """Draw a call of ``op`` among few ranks, on blocks with elements; a rank dies before it.

    Whether ranks wait for each other where there is nothing to hand on is for implementations to say.
    """
    right = _rightly(draw)
    mesh = tuple(Axis(name, size) for name, size in zip("ij", draw(_FEW), strict=False))
    drawn: Draft = draft(right, groups_of(op), mesh)
    drawn = Draft(right, drawn.mesh, drawn.axes, drawn.groups, drawn.dtype, once=True)
    case = _called(Script(*call_of(right, op, drawn, "whole")))
    return _befallen(draw, case, None)


def parted_call(draw: choices.Draw, op: str) -> Case:
    """Draw a call of ``op`` on anything it takes, which one rank has as a step of its own."""
    case = _called(script(_rightly(draw), op, once=True))
    ranks, (last,) = range(case.program.world), case.program.steps
    odd = draw.one(ranks)
    if len(ranks) < 2:
        return case
    own = replaced(last, outputs=tuple(f"own_{name}" for name in last.outputs), ranks=(odd,))
    rest = replaced(last, ranks=tuple(rank for rank in ranks if rank != odd))
    results = (*case.program.results, *own.outputs)
    return replaced(case, program=replaced(case.program, steps=(own, rest), results=results))


def _called(program: Script) -> Case:
    """Return the program of one call, on one operand or on several."""
    word = program.drawn.draw(_OPERANDS)
    operands = [program.input() for _ in range(2 if word == "several" else 1)]
    return program.case(*program.run(*operands, *(operands if word == "same" else ())))


def _rightly(draw: choices.Draw) -> choices.Draw:
    """Return the draw with the goal that nothing is wrong but what befalls a rank."""
    return choices.Draw(draw.source, {**draw.goals, "wrong": ""})


def _befallen(draw: choices.Draw, case: Case, delay: float | None) -> Case:
    """Return the program with one rank that is late for the call, or dies before it."""
    return replaced(case, faults=(Fault(rank=draw.one(range(case.program.world)), before=0, delay=delay),))
