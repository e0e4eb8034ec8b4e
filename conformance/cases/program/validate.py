"""What every front door asks of a case before anything runs: that it says something definite.

A malformed case has no verdict. A case that is well formed but illegal (an axis out of range, groups that
are no partition) is none of this module's business: its meaning is rejection, and the oracle says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.cases.case import Case, Operand
from conformance.cases.case_error import CaseError
from conformance.cases.name_length import check_names
from conformance.cases.program.effects import names
from conformance.cases.program.program import Program
from conformance.cases.program.rank_faults import check_trouble
from conformance.cases.tensor.footprint import check_total, footprint
from conformance.cases.tensor.layout import LAYOUTS
from conformance.cases.tensor.tensor import Tensor

MOST_RANKS: Final = 1024

MOST_MESH_AXES: Final = 64
"""Axes of one mesh: the most that an array of its ranks can have."""

MOST_STEPS: Final = 1024
"""Steps of one program. Over 60 s went by on one of 20,000 before anything was said of it (22 November 2026)."""


def validate(case: Case) -> None:
    """Raise ``CaseError`` unless the case is well formed."""
    _check_size(case)
    _check_mesh(case.program)
    total = 0
    for name, operand in case.inputs.items():
        _check_operand(name, operand, case.program.world)
        total += sum(footprint(f"input {name!r}, rank {r}", b.dtype, b.shape) for r, b in enumerate(operand.blocks))
    check_total(total)
    names(case)
    check_trouble(case)


def _check_size(case: Case) -> None:
    """Refuse a program that is too large to say anything about in a reasonable time, or in a line."""
    program = case.program
    for what, found, most in (
        ("mesh axes", len(program.mesh), MOST_MESH_AXES),
        ("steps", len(program.steps), MOST_STEPS),
    ):
        if found > most:
            raise CaseError(f"the program has {found} {what}; at most {most} are allowed")
    check_names((*_names(program), *case.inputs))


def _names(program: Program) -> Iterator[str]:
    """Yield every name and word that a program has."""
    yield from (axis.name for axis in program.mesh)
    yield from program.results
    for step in program.steps:
        yield step.op
        yield from (*step.inputs, *step.outputs, *step.into, *step.axes, *step.attrs)
        yield from (value for value in step.attrs.values() if isinstance(value, str))


def _check_mesh(program: Program) -> None:
    names = [axis.name for axis in program.mesh]
    for axis in program.mesh:
        if axis.size < 1:
            raise CaseError(f"mesh axis {axis.name!r} has size {axis.size}; it must have at least 1")
        if names.count(axis.name) > 1:
            raise CaseError(f"the mesh has two axes named {axis.name!r}")
    if program.world > MOST_RANKS:
        raise CaseError(f"the mesh has {program.world} ranks; at most {MOST_RANKS} are allowed")


def _check_operand(name: str, operand: Operand, world: int) -> None:
    for what, found in (("blocks", len(operand.blocks)), ("layouts", len(operand.layouts))):
        if found != world:
            raise CaseError(f"input {name!r} has {found} {what} for {world} ranks")
    for rank, (block, layout) in enumerate(zip(operand.blocks, operand.layouts, strict=True)):
        if layout not in LAYOUTS:
            raise CaseError(f"input {name!r}, rank {rank}: unknown layout {layout!r}; known are {', '.join(LAYOUTS)}")
        if layout == "broadcast" and not _constant(block):
            raise CaseError(
                f"input {name!r}, rank {rank}: a broadcast layout needs a block that is constant along its first axis"
            )


def _constant(block: Tensor) -> bool:
    if not block.shape or not block.bits:
        return True
    row = len(block.bits) // block.shape[0]
    return block.bits[:-row] == block.bits[row:]
