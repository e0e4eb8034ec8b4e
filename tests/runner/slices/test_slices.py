"""Slices: units that depend on nothing else, and one run whatever their number."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace as replace_note

from conformance.backends.base import Backend, Claims, Unsupported
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.tensor.dtypes import Array
from conformance.runner.explore import explore, join
from conformance.runner.log.reading import LogError, read
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord, Failure, Footer
from conformance.runner.slices.joining import canonical, join_slices
from conformance.runner.slices.note import MissingSliceError, read_note
from conformance.runner.slices.units import every_unit, units_of
from conformance.runner.worker.in_process import InProcess

PLAN = Plan(ops=("broadcast", "all_gather"), examples=24, suites=("collectives", "async"))


class Narrow(Reference):
    """Broadcasts wrongly, gathers bools alone, and cannot start anything, though it claims to."""

    @property
    def claims(self) -> Claims:
        return {**super().claims, "all_gather": {"dtype": ["bool"]}}

    def broadcast(self, blocks: list[Array], *, root: int, groups: Any) -> list[Array]:
        return list(blocks)


class Wrong(Reference):
    """Broadcasts nothing."""

    def broadcast(self, blocks: list[Array], *, root: int, groups: Any) -> list[Array]:
        return list(blocks)


class Refusing(Reference):
    """Answers no all_gather, and says that it supports none."""

    @property
    def claims(self) -> Claims:
        return {"all_gather": {"calls": ["legal"], "size": ["one", "many"]}}

    def all_gather(self, blocks: list[Array], **rest: Any) -> list[Array]:
        raise Unsupported("not here")


def in_process(backend: Backend) -> InProcess:
    return InProcess(BackendSpec(name="it", command=()), backend=backend)


def slices(backend: type[Reference], folder: Path, count: int, plan: Plan = PLAN) -> list[Path]:
    folders = [folder / f"{at}-of-{count}" for at in range(1, count + 1)]
    for at, each in enumerate(folders, 1):
        explore(replace(plan, slice=(at, count)), {"it": in_process(backend())}, each)
    return folders


def run(backend: type[Reference], folder: Path, count: int, plan: Plan = PLAN) -> tuple[list[Any], Footer]:
    """Return the records of the run that so many slices make, without times, and its footer."""
    joined = join_slices(slices(backend, folder / str(count), count, plan))
    join(joined, {"it": in_process(backend())}, folder / f"whole-{count}")
    _, *records, footer = read(folder / f"whole-{count}" / "run.jsonl")
    assert isinstance(footer, Footer)
    cases = canonical(one for one in records if isinstance(one, CaseRecord))
    return [*cases, *(one for one in records if not isinstance(one, CaseRecord))], footer


def test_any_number_of_slices_makes_the_same_run(tmp_path: Path) -> None:
    whole, footer = run(Narrow, tmp_path, 1)
    for count in (3,):
        records, other = run(Narrow, tmp_path, count)
        assert records == whole
        assert (other.counts, other.silent, other.exercised, other.power) == (
            footer.counts,
            footer.silent,
            footer.exercised,
            footer.power,
        )
        assert other.clauses_never_exercised == footer.clauses_never_exercised


def test_failures_are_made_smaller_once_all_slices_are_there(tmp_path: Path) -> None:
    folders = slices(Narrow, tmp_path, 2)
    assert not any(isinstance(one, Failure) for folder in folders for one in read(folder / "run.jsonl"))
    result = join(join_slices(folders), {"it": in_process(Narrow())}, tmp_path / "whole")
    assert {one.clause.partition(".")[0] for one in result.failures} >= {"broadcast"}
    assert all((tmp_path / "whole" / one.file).is_file() for one in result.failures)
    assert result.status == 1


@pytest.mark.parametrize("answered", [True, False])
def test_what_is_refused_is_excused_where_no_slice_has_an_answer(answered: bool, tmp_path: Path) -> None:
    refused = set()
    for folder in (folders := slices(Refusing, tmp_path, 2, replace(PLAN, ops=("all_gather",), examples=40))):
        said = [one for one in read(folder / "run.jsonl") if isinstance(one, CaseRecord)]
        raised = tuple(one.case for one in said if one.outcome == "errored")
        refused.update(raised)
        (folder / "slice.json").write_bytes(
            msgspec.json.encode(replace_note(read_note(folder), refused={"it": raised}))
        )
        if not answered:  # as if what passes because it is to be refused had not been drawn
            log = re.sub(rb'"passed":\d+', b'"passed":0', (folder / "run.jsonl").read_bytes())
            lines = log.splitlines(keepends=True)
            (folder / "run.jsonl").write_bytes(b"".join(line for line in lines if b'"outcome":"passed"' not in line))
    outcomes = {one.outcome for one in join_slices(folders).records if one.case in refused}
    assert outcomes == {"errored" if answered else "unsupported"}


def test_units_are_the_same_for_any_number_of_slices() -> None:
    every = every_unit(PLAN)
    for count in (1, 3, 7):
        dealt = [unit for at in range(1, count + 1) for unit in units_of(PLAN, (at, count))]
        assert sorted(dealt, key=lambda unit: unit.place) == every
    numbers = [
        (unit.draws.suite, unit.draws.op, unit.draws.first + at) for unit in every for at in range(unit.draws.examples)
    ]
    assert len(numbers) == len(set(numbers))


def test_a_slice_has_every_kind_of_thing_where_there_are_enough_units() -> None:
    wide = Plan(ops=("broadcast", "all_gather"), examples=120, suites=("collectives", "async"))
    for at in (1, 2, 3):
        assert {unit.draws.op for unit in units_of(wide, (at, 3))} == set(wide.ops)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda folders: folders[:1], "slices 2, 3 of 3 are missing"),
        (lambda folders: [*folders, folders[0]], "are both slice 1 of 3"),
        (lambda folders: [folders[0].parent], "holds no slice.json"),
    ],
)
def test_slices_that_are_missing_or_overlap_are_named(change: Any, says: str, tmp_path: Path) -> None:
    folders = slices(Reference, tmp_path, 3, replace(PLAN, ops=("broadcast",), examples=2))
    with pytest.raises(LogError, match=says) as caught:
        join_slices(change(folders))
    assert isinstance(caught.value, MissingSliceError) == ("missing" in says)


def test_slices_of_other_runs_are_told_apart(tmp_path: Path) -> None:
    small = replace(PLAN, ops=("broadcast",), examples=2)
    first, second = slices(Reference, tmp_path / "a", 2, small)
    other = slices(Reference, tmp_path / "b", 2, replace(small, seed=1))[1]
    with pytest.raises(LogError, match="of another plan"):
        join_slices([first, other])
    changed(second, b'"spec_digest":"', b'"spec_digest":"0')
    with pytest.raises(LogError, match="another spec digest"):
        join_slices([first, second])


def test_a_slice_that_never_ended_or_is_damaged_is_named(tmp_path: Path) -> None:
    first, second = slices(Reference, tmp_path, 2, replace(PLAN, ops=("broadcast",), examples=2))
    lines = (second / "run.jsonl").read_bytes().splitlines(keepends=True)
    (second / "run.jsonl").write_bytes(b"".join(lines[:-1]))
    with pytest.raises(LogError, match="never ended"):
        join_slices([first, second])
    (second / "slice.json").write_text("{}")
    with pytest.raises(LogError, match="is no note of a slice"):
        join_slices([first, second])


def test_a_folder_with_a_log_is_not_written_over(tmp_path: Path) -> None:
    folders = slices(Reference, tmp_path, 1, replace(PLAN, ops=("broadcast",), examples=2))
    shutil.copytree(folders[0], tmp_path / "whole")
    with pytest.raises(LogError, match="exists"):
        join(join_slices(folders), {"it": in_process(Reference())}, tmp_path / "whole")


def changed(folder: Path, old: bytes, new: bytes) -> Sequence[Path]:
    path = folder / "run.jsonl"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    return [folder]
