"""Operands that do not fit are refused, by a clause of their own, and values that are given break that clause."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.cases.case_error import CaseError
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.observation import Observation
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.codec import load_sharded, save_sharded
from conformance.cases.sharded.placement import Placement, Split
from conformance.generate.sharded.illegal_programs import illegal
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.qualification.sharded_mutants import MUTANTS, Changed
from conformance.reference.sharded.all_reduce import chosen
from conformance.runner.draws import numbered
from conformance.specs.sharded import CLAUSES

CLAUSE = {"assigned": "sharded.C53", "outside": "sharded.C54", "parts": "sharded.C55"}


def drawn(kind: str) -> list[ShardedCase]:
    domain = illegal((kind,))
    return [numbered(domain, 0, number)[0] for number in range(12)]


@pytest.mark.parametrize("kind", CLAUSE)
def test_what_gives_values_breaks_the_clause_of_the_misfit_alone(kind: str) -> None:
    for case in drawn(kind):
        found = judge_sharded(sharded_meaning(case), Observation(), CLAUSES, STANDARD)
        assert [id for id, held in found.clauses.items() if held == "broken"] == [CLAUSE[kind]]


@pytest.mark.parametrize("kind", CLAUSE)
def test_a_misfit_is_read_as_it_was_written(kind: str, tmp_path: Path) -> None:
    for case in drawn(kind)[:3]:
        save_sharded(case, tmp_path / "case.json")
        assert load_sharded(tmp_path / "case.json") == case


def test_a_tensor_outside_the_mesh_that_meets_none_of_it_is_malformed() -> None:
    case = drawn("parts")[0]
    name = next(iter(case.of.buffers))
    with pytest.raises(CaseError, match="meets no tensor of it"):
        sharded_meaning(replace(case, homes={name: Placement(outside=(15,))}))


def test_parts_of_one_dtype_one_for_each_device_are_a_tensor() -> None:
    case = drawn("parts")[0]
    name, held = next(iter(case.of.buffers.items()))
    assert sharded_meaning(replace(case, homes={name: Placement(made_of=(held.dtype,) * case.world)})).legal


def test_a_cut_that_does_not_fit_is_refused_by_the_clause_of_placements_whatever_its_parts_are() -> None:
    case = drawn("parts")[0]
    name, held = next(iter(case.of.buffers.items()))
    split = Split(axis=len(held.shape), along=(case.mesh[0].name,), cuts=(0,))
    for made_of in ((held.dtype,) * case.world, ()):
        subject = sharded_meaning(replace(case, homes={name: Placement(splits=(split,), made_of=made_of)}))
        found = judge_sharded(subject, Observation(), CLAUSES, STANDARD)
        assert {id: held for id, held in found.clauses.items() if id != "sharded.C9"} == {"sharded.C7": "broken"}


@pytest.mark.parametrize(
    ("devices", "elements", "way"), [(2, 300_000, "naive"), (3, 256_000, "naive"), (3, 256_001, "ring")]
)
def test_the_ring_is_chosen_for_more_than_two_devices_and_the_bound(devices: int, elements: int, way: str) -> None:
    assert chosen(devices, elements) == way


@pytest.mark.parametrize("kind", CLAUSE)
def test_who_makes_tensors_fit_dies_by_the_clause_of_the_misfit(kind: str) -> None:
    (way,) = (each for each in MUTANTS.values() if getattr(each, "unrefused", "") == CLAUSE[kind])
    for case in drawn(kind)[:5]:
        found = judge_sharded(sharded_meaning(case), Changed(way).sharded(case), CLAUSES, STANDARD)
        assert found.blame is not None
        assert (found.outcome, found.blame.id) == ("failed", CLAUSE[kind])
