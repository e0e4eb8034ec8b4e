from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np

from conformance.cases.program.program import lines
from conformance.cases.tensor.dtypes import Array
from conformance.cases.types.typed_program import TypedProgram
from conformance.cases.types.validate import validate
from conformance.generate.choices import Draw
from conformance.generate.tables.typed import TABLE_OF_TYPED
from conformance.generate.tables.typed_calls import CALLS
from conformance.generate.types.data import lowered_cases
from conformance.generate.types.domain import typed_programs
from conformance.reference.types.check import check
from conformance.reference.types.ill_typed import IllTyped
from conformance.reference.types.values import evaluate
from conformance.runner.draws import Numbers, numbered

DRAWN = 700


def drawn() -> list[TypedProgram]:
    domain = typed_programs()
    return [Draw(Numbers(Random(seed)))(domain) for seed in range(DRAWN)]


def inputs(program: TypedProgram, source: np.random.Generator) -> dict[str, list[Array]]:
    found = {}
    for name, given in program.inputs.items():
        blocks = [np.zeros(given.shape)] * program.world
        for line in lines(program.mesh, tuple(a.name for a in program.mesh if a.name not in given.varying)):
            same = source.integers(-9, 9, given.shape).astype(np.float64)
            for rank in line:
                blocks[rank] = same
        found[name] = blocks
    return found


def test_invariant_and_reduced_values_are_the_same_along_their_axes() -> None:
    source, seen = np.random.default_rng(0), Counter[str]()
    for program in drawn():
        try:
            types = check(program)
        except IllTyped:
            continue
        # The dtypes of what an axis_index meets are chosen with the data.
        plain = program.checked and all(step.op != "axis_index" for step in program.steps)
        values = evaluate(program, inputs(program, source)) if plain else {}
        for name, blocks in values.items():
            for axis in program.mesh:
                state = types[name].state(axis.name)
                seen[state] += 1
                if state in ("invariant", "reduced") and axis.name in program.names:
                    assert all(
                        np.array_equal(blocks[rank], blocks[line[0]])
                        for line in lines(program.mesh, (axis.name,))
                        for rank in line
                    ), (program, name, axis)
    assert min(seen[state] for state in ("invariant", "varying", "unreduced", "reduced")) > 20


def test_every_rule_refuses_some_drawn_program() -> None:
    refused = Counter[str]()
    for program in drawn():
        validate(program)
        try:
            check(program)
        except IllTyped as error:
            refused[error.clause] += 1
    assert {f"types.C{number}" for number in (1, 2, 3, 4, 5, 6, 8, 9, 10)} <= set(refused)


def test_programs_to_be_lowered_have_groups_of_unequal_sizes() -> None:
    for seed in range(3):
        found = [numbered(lowered_cases(), seed, number)[0].program for number in range(75)]
        steps = [program.steps for program in found if not program.started]
        reductions = [step for each in steps for step in each if step.op == "all_reduce"]
        assert any(len({len(group) for group in step.groups or ()}) > 1 for step in reductions)


def test_no_row_of_the_table_has_a_mean_whose_quotient_rounds() -> None:
    plain = {name: levels[0] for name, levels in TABLE_OF_TYPED.factors.items()} | {"dtype": "float64"}
    mean = next(call for call in CALLS if call.attrs(2).get("op") == "mean")
    for mesh, is_case in (((2, 2), True), ((4,), True), ((3,), False), ((2, 3), False)):
        case = TABLE_OF_TYPED.make(plain | {"call": mean, "mesh": mesh})
        assert (case is not None) == is_case, mesh
