"""How the suite asynchrony is drawn: as chains with starts, and as starts of what does not fit."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.program.program import Program, Step
from conformance.generate import choices
from conformance.generate.calls.draft import PARTITIONS, draft
from conformance.generate.deal import dealing
from conformance.generate.operations import CALLED
from conformance.generate.programs.chains import chain
from conformance.generate.programs.messages import begun
from conformance.generate.programs.overlaps import misfit

SUITE: Final = "async"

_WHEN: Final = choices.steered(["waited", "waited", "later", "never"], ("start",), lambda word: (word,))
_NUMBERS: Final = choices.sampled_from([1, 2, -3])


@choices.composite
def _chains(draw: choices.Draw, op: str) -> Case:
    return chain(begun(draw, op), effects=True, starts=True)


@choices.composite
def _misfits(draw: choices.Draw, op: str) -> Case:
    return misfit(begun(draw, op), start=True)


@choices.composite
def _constants(draw: choices.Draw) -> Case:
    """Draw the start of a sum of a number, and the wait for it: at once, after another, or never."""
    drawn = draft(draw, groups=PARTITIONS)
    plain = Step(op="reduce_constant", inputs=(), outputs=("y3",), axes=drawn.axes, groups=drawn.groups)
    start = replace(plain, outputs=("t1",), attrs={"value": draw(_NUMBERS)}, start=True)
    between = replace(plain, attrs={"value": draw(_NUMBERS)})
    done = Step(op="done", inputs=("t1",), outputs=("y2",), axes=())
    steps = {"waited": (start, done), "later": (start, between, done), "never": (start, between)}[draw(_WHEN)]
    results = tuple(name for step in steps if not step.start for name in step.outputs)
    return Case(program=Program(mesh=drawn.mesh, steps=steps, results=results), inputs={})


DOMAINS: Final = {
    **{
        op: dealing(f"{SUITE} {op}", _chains(op), illegal=_misfits(op)) for op in (*CALLED, "recv", "ragged_all_to_all")
    },
    "reduce_constant": _constants(),
}
"""Of each operation of the suite what its cases are drawn from."""

SHARE: Final = 0.4
"""The part of a run's examples that is drawn for each operation of the suite."""
