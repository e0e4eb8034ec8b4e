"""Right implementations that look unusual: there are many of each kind, and no *must* refuses one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from conformance.cases.program.program import Axis
from conformance.cases.types.typed_case import Level
from conformance.cases.types.typed_program import TypedInput, TypedProgram, TypedStep
from conformance.qualification.qualify_variants import judged_variants
from conformance.qualification.variants import variants
from conformance.qualification.variants.transforms import MapsSliceBySlice
from conformance.specs import OPS, SUITES


def test_there_are_sixty_and_six_of_each_kind() -> None:
    kinds = Counter(variant.kind for variant in variants())  # type: ignore[attr-defined]  # every variant has one
    assert sum(kinds.values()) >= 60
    assert min(kinds.values()) >= 6, kinds


@pytest.mark.parametrize("kind", ["algorithm", "number model", "completion", "storage", "left open"])
def test_no_must_refuses_a_computing_variant(kind: str) -> None:
    chosen = [variant for variant in variants() if variant.kind == kind]  # type: ignore[attr-defined]  # as above
    rows = list(judged_variants(chosen, examples=12, seed=0, suites=("numerics",), ops=tuple(OPS)))
    assert {row.name: row.refused for row in rows if row.refused} == {}


@pytest.mark.parametrize("kind", ["transforms", "types"])
def test_no_must_refuses_a_variant_of_types_or_transforms(kind: str) -> None:
    chosen = [variant for variant in variants() if variant.kind == kind]  # type: ignore[attr-defined]  # as above
    rows = list(judged_variants(chosen, examples=24, seed=0, suites=("types", "transforms", "lowering"), ops=()))
    assert {row.name: row.refused for row in rows if row.refused} == {}
    assert all(row.cases for row in rows)


def test_no_must_refuses_a_variant_of_graphs_or_sharded_tensors() -> None:
    chosen = [variant for variant in variants() if variant.kind == "tensors"]  # type: ignore[attr-defined]  # as above
    rows = list(judged_variants(chosen, examples=24, seed=0, suites=("graphs", "sharding"), ops=()))
    assert {row.name: row.refused for row in rows if row.refused} == {}
    assert all(row.cases for row in rows)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_must_refuses_a_variant_on_any_seed(seed: int) -> None:
    rows = list(judged_variants(variants(), examples=60, seed=seed, suites=tuple(SUITES), ops=tuple(OPS)))
    assert {row.name: row.refused for row in rows if row.refused} == {}


def test_a_step_with_rows_of_a_level_is_not_mapped_slice_by_slice() -> None:
    rows = {"input_offsets": [[0], [1]], "send_sizes": [[1], [1]], "output_offsets": [[0], [0]]}
    exchange = TypedStep(
        op="ragged_all_to_all",
        inputs=("a", "a"),
        output="b",
        axes=("i",),
        attrs={**rows, "recv_sizes": [[1], [1]], "level": "p"},
    )
    program = TypedProgram(
        mesh=(Axis(name="i", size=1),),
        inputs={"a": TypedInput(dtype="int32", shape=(2,), varying=("i",))},
        steps=(exchange,),
        results=("b",),
    )
    levels, inputs = (Level(name="p", size=2, inputs={"a": 0}),), {"a": [np.array([[1, 2], [3, 4]], np.int32)]}
    (found,) = MapsSliceBySlice().batched(program, levels, inputs)["b"]
    assert found.tolist() == [[1, 2], [4, 4]]
