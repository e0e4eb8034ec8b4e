"""What rules and compilers take for something else is drawn in every run: mapped axes beside others, calls alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.reference.transforms.batching import over_mesh
from conformance.reference.types.check import check
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
def test_sums_to_be_made_are_mapped_over_two_levels_and_are_results(seed: int) -> None:
    found = []
    for case in drawn("batched_program", "transforms", 5, 150, seed):
        types = check(over_mesh(case.program, [level.name for level in case.batch]))
        found += [len(case.batch) for name in case.program.results if types[name].unreduced]
    assert 2 in found


@pytest.mark.parametrize("seed", SEEDS)
def test_indices_over_several_axes_are_lowered_in_both_orders(seed: int) -> None:
    found = {tuple(sorted(step.axes)) == step.axes for case in drawn("lowered_program", "lowering", 13, 150, seed)
             for step in case.program.steps if step.op == "axis_index" and len(step.axes) > 1}  # fmt: skip
    assert found == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_ragged_exchanges_have_operands_that_vary_along_unlike_axes(seed: int) -> None:
    found = set()
    for case in drawn("typed_program", "types", 5, 300, seed):
        for step in case.program.steps:
            if step.op == "ragged_all_to_all" and {*step.inputs} <= {*case.program.inputs}:
                rows, output = ({*case.program.inputs[name].varying} - {*step.axes} for name in step.inputs)
                found.add((rows > output) - (rows < output))
    assert {-1, 1} <= found


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
