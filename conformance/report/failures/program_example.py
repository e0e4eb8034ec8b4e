"""A program of collectives made readable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from conformance.cases.case import FORMAT, Case, case_id
from conformance.cases.codec import CaseFile, StoredOperand
from conformance.cases.json_text import pretty
from conformance.cases.program.program import Program
from conformance.cases.program.step_line import step_line
from conformance.cases.tensor.stored import StoredTensor
from conformance.cases.tensor.tensor import to_array
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate
from conformance.report.failures.example import EVALUATED, Example, NamedValue, blocks_of

CARRIED: Final = 1 << 22
"""Hex digits of all inputs up to which a report carries a case file; a minimal case has a few hundred."""


def of_program(case: Case) -> Example:
    """Return a program with its inputs and what it should give; also its file as text, unless it is large."""
    expected, rejection, problem = _meaning(case)
    return Example(
        mesh=", ".join(f"{axis.name} = {axis.size}" for axis in case.program.mesh),
        world=case.program.world,
        steps=(*_lines(case), _results(case.program)),
        inputs=tuple(
            NamedValue(name=name, blocks=blocks_of([to_array(block) for block in operand.blocks], operand.layouts))
            for name, operand in case.inputs.items()
        ),
        expected=expected,
        rejection=rejection,
        problem=problem,
        source=inline(case) if _hex_digits(case) <= CARRIED else None,
    )


def inline(case: Case) -> str:
    """Return the case file of ``case`` with every tensor in it, so that it needs no sibling."""
    inputs = {
        name: StoredOperand(
            blocks=tuple(StoredTensor(dtype=b.dtype, shape=b.shape, bits=b.bits) for b in operand.blocks),
            layouts=operand.layouts,
        )
        for name, operand in case.inputs.items()
    }
    document = CaseFile(format=FORMAT, id=case_id(case), program=case.program, inputs=inputs, faults=case.faults)
    return pretty(msgspec.to_builtins(document, order="deterministic"))


def _lines(case: Case) -> Iterator[str]:
    """Yield the steps as lines, each after the faults that come before it."""
    for index, step in enumerate(case.program.steps):
        for fault in case.faults:
            if fault.before == index:
                yield f"rank {fault.rank} {'dies' if fault.delay is None else f'is {fault.delay:g} s late'}"
        yield step_line(step)


def _meaning(case: Case) -> tuple[tuple[NamedValue, ...], str | None, str | None]:
    """Return the expected values, or the rejection, or why neither is known."""
    if _hex_digits(case) > 2 * EVALUATED:
        return (), None, "the inputs are too large to work out the expected values here; replay the case"
    try:
        results = evaluate(case)
    except Rejected as rejected:
        return (), f"{rejected.clause}: {rejected}", None
    except ValueError as error:
        return (), None, f"the program has no meaning: {' '.join(str(error).split())[:400]}"
    return tuple(NamedValue(name=name, blocks=blocks_of(blocks)) for name, blocks in results.items()), None, None


def _hex_digits(case: Case) -> int:
    return sum(len(block.bits) for operand in case.inputs.values() for block in operand.blocks)


def _results(program: Program) -> str:
    return f"return {', '.join(program.results)}"
