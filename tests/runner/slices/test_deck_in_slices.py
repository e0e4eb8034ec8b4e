"""The deck is dealt to slices, so that the run that they make says what it can see."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.runner.explore import explore, join
from conformance.runner.log.reading import LogError, read
from conformance.runner.plan import Plan
from conformance.runner.records.power import Power
from conformance.runner.records.record import CaseRecord, Footer
from conformance.runner.slices.joining import join_slices
from conformance.runner.worker.in_process import InProcess

PLAN = Plan(ops=("barrier", "axis_index"), examples=300, suites=("async", "collectives"), profile="deck", decked=True)


class Wrong(Reference):
    """Has no rank at its place."""

    def axis_index(self, **rest: object) -> object:
        return [block + 1 for block in super().__getattr__("axis_index")(**rest)]


def worker(backend: type[Reference] = Reference) -> InProcess:
    return InProcess(BackendSpec("it", ()), backend=backend())


def slices(folder: Path, count: int, backend: type[Reference] = Reference, plan: Plan = PLAN) -> list[Path]:
    folders = [folder / f"{at}-of-{count}" for at in range(1, count + 1)]
    for at, each in enumerate(folders, 1):
        explore(replace(plan, slice=(at, count)), {"it": worker(backend)}, each)
    return folders


def power_of(folder: Path) -> Power | None:
    footer = read(folder / "run.jsonl")[-1]
    assert isinstance(footer, Footer)
    return footer.power.get("it")


def names(folder: Path) -> list[str]:
    return [record.case for record in read(folder / "run.jsonl") if isinstance(record, CaseRecord)]


def test_slices_deal_the_deck_and_make_the_run_of_one(tmp_path: Path) -> None:
    explore(PLAN, {"it": worker()}, tmp_path / "whole")
    folders = slices(tmp_path, 3)
    joined = join(join_slices(folders), {"it": worker()}, tmp_path / "joined")
    dealt = [name for folder in folders for name in names(folder)]
    assert sorted(dealt) == sorted(names(tmp_path / "whole")) == sorted(names(tmp_path / "joined"))
    whole = power_of(tmp_path / "whole")
    assert whole is not None
    assert whole.within.seen > 0
    assert (power_of(tmp_path / "joined"), {power_of(folder) for folder in folders}) == (whole, {None})
    assert (joined.status, joined.undrawn) == (0, ())


def test_what_fails_in_a_slice_of_the_deck_is_made_smaller_once_they_are_joined(tmp_path: Path) -> None:
    result = join(join_slices(slices(tmp_path, 2, Wrong)), {"it": worker(Wrong)}, tmp_path / "joined")
    assert result.status == 1
    assert all(failure.minimal for failure in result.failures)
    assert not result.unexplained


def test_slices_of_the_deck_and_of_draws_alone_are_no_run(tmp_path: Path) -> None:
    first = slices(tmp_path / "deck", 2)[0]
    other = slices(tmp_path / "draws", 2, plan=replace(PLAN, decked=False, examples=4))[1]
    with pytest.raises(LogError, match="of another plan"):
        join_slices([first, other])
