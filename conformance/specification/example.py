"""A worked example as a table: what each rank holds before and after, computed by the reference."""

from __future__ import annotations

import numpy as np

from conformance.cases.program.step_line import step_line
from conformance.cases.tensor.dtypes import Array
from conformance.reference.spmd import evaluate
from conformance.runner.smoke import example_case
from conformance.specs.op import Example


def example_call(name: str, example: Example) -> str:
    """Return the step of an example as it is written, with the mesh and the dtype of its first operand."""
    program = example_case(name, example).program
    given = f", of {example.dtype}" if program.steps[0].inputs else ""
    return f"`{step_line(program.steps[0])}` on the mesh `i = {program.world}`{given}:"


def example_table(name: str, example: Example) -> list[str]:
    """Return the lines of a Markdown table with one row a rank."""
    case = example_case(name, example)
    before = case.blocks()
    results = evaluate(case)["y"]
    titles = list(before) if len(before) > 1 else ["block"] * len(before)
    lines = [f"| rank | {' | '.join([*titles, 'result'])} |", "|" + " --- |" * (len(titles) + 2)]
    for rank, result in enumerate(results):
        cells = [_shown(blocks[rank]) for blocks in before.values()]
        lines.append(f"| {rank} | {' | '.join([*cells, _shown(result)])} |")
    return lines


def _shown(block: Array | None) -> str:
    return "nothing" if block is None else f"`{np.asarray(block).tolist()}`"
