"""What rules and compilers take for something else is drawn in every run: mapped axes beside others, calls alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.runner.dialects import operations
from conformance.runner.draws import numbered

SEEDS = (0, 7)


def drawn(op: str, suite: str, first: int, draws: int, seed: int) -> Iterator[Any]:
    """Yield the cases at every sixteenth number of a run."""
    domain = operations()[op].suites[suite].domains[op]
    for number in range(first, draws, 16):
        yield numbered(domain, seed, number)[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_gathers_over_the_mesh_have_the_mapped_axis_at_every_place(seed: int) -> None:
    found = set()
    for case in drawn("batched_program", "transforms", 5, 150, seed):
        inner = case.batch[-1]
        for step in case.program.steps:
            if (
                step.op == "all_gather"
                and step.attrs["tiled"]
                and not {level.name for level in case.batch} & {*step.axes}
            ):
                found.add(inner.inputs.get(step.inputs[0]))
    assert {0, 1, 2} <= found


@pytest.mark.parametrize("seed", SEEDS)
def test_compiled_programs_have_two_calls_of_one_operation_over_unlike_axes(seed: int) -> None:
    found = set()
    for case in drawn("compiled_program", "lowering", 5, 75, seed):
        steps = case.program.steps
        if len(steps) == 2 and steps[0].op == steps[1].op and not {*steps[0].axes} & {*steps[1].axes}:
            found.add(steps[0].op)
    assert found == {"all_reduce", "all_gather", "reduce_scatter"}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_done_is_done_again_after_another_start(seed: int) -> None:
    found = False
    for case in drawn("typed_program", "types", 13, 300, seed):
        done: dict[str, int] = {}
        starts = [number for number, step in enumerate(case.program.steps) if step.start]
        for number, step in enumerate(case.program.steps):
            if step.op == "done":
                before = done.setdefault(step.inputs[0], number)
                found |= any(before < start < number for start in starts)
    assert found
