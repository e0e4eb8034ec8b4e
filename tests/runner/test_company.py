"""Cases in company: what holds there is settled, and nothing but a case alone is blamed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from msgspec.structs import replace

from conformance.backends.discovery import BackendSpec, find
from conformance.backends.reference import Reference
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.runner.backend.gathering import Gathering
from conformance.runner.dialect import CompanyOf
from conformance.runner.explore import explore
from conformance.runner.log.reading import read
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord, Footer
from conformance.runner.result import Result
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.workers import Worker

PLAN = Plan(ops=("broadcast", "permute"), examples=40, suites=("collectives",))


class Together(Reference):
    """Runs programs together, each rightly."""

    together: ClassVar = {"programs": 16}  # type: ignore[assignment]  # a property of the class it is of
    sizes: ClassVar[list[int]]

    def __init__(self) -> None:
        super().__init__()
        type(self).sizes = []

    def execute_together(self, cases: Sequence[Case]) -> Sequence[Observation]:
        self.sizes.append(len(cases))
        return [self.member(case) for case in cases]

    def member(self, case: Case) -> Observation:
        return self.execute(case)


def test_a_slow_backend_is_asked_about_what_waits_for_company_before_more_is_chosen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("conformance.runner.offering.UNDER_WAY", 0.0)
    plan = Plan(("axis_index",), examples=300, suites=("collectives",), decked=True, choices=6, time_budget=40.0)
    result = explore(plan, {"it": InProcess(BackendSpec("it", ()), backend=Together())}, tmp_path)
    assert (result.status, result.seconds < 30.0) == (0, True)


def spoilt(seen: Observation) -> Observation:
    """Return an observation whose first block with an element has another one."""
    results = dict(seen.results)
    for name, blocks in results.items():
        for rank, block in enumerate(blocks):
            if block is not None and (array := to_array(block)).size:
                other = from_array(
                    np.frombuffer(bytes(255 - b for b in array.tobytes()), array.dtype).reshape(array.shape)
                )
                results[name] = (*blocks[:rank], other, *blocks[rank + 1 :])
                return replace(seen, results=results)
    return seen


class WrongInCompany(Together):
    """Gives a wrong value for every permute in company, and the right one alone."""

    def member(self, case: Case) -> Observation:
        seen = self.execute(case)
        return spoilt(seen) if case.program.collectives[-1].op == "permute" else seen


class WrongAlone(Together):
    """Gives a wrong value for every permute alone, which company hides."""

    def execute(self, case: Case) -> Observation:
        seen = super().execute(case)
        return spoilt(seen) if case.program.collectives[-1].op == "permute" else seen

    def member(self, case: Case) -> Observation:
        return Reference.execute(self, case)


class WrongWhenFresh(WrongInCompany):
    """Gives a wrong value for the first permute of each process, too."""

    fresh = True

    def execute(self, case: Case) -> Observation:
        first, self.fresh = self.fresh, False
        seen = super().execute(case)
        return spoilt(seen) if first and case.program.collectives[-1].op == "permute" else seen


class Apart(InProcess):
    """A worker with other processes, which are backends of this one."""

    def apart(self) -> InProcess:  # type: ignore[override]
        return InProcess(self.spec, backend=WrongWhenFresh())


class Raises(Together):
    """Raises for a company with a permute, and for it alone."""

    def execute_together(self, cases: Sequence[Case]) -> Sequence[Observation]:
        if any(case.program.collectives[-1].op == "permute" for case in cases):
            raise RuntimeError("no kernel")
        return super().execute_together(cases)

    def execute(self, case: Case) -> Observation:
        if case.program.collectives[-1].op == "permute":
            return Observation(errors=replace_errors(case))
        return super().execute(case)


class Crowded(Together):
    """Raises where there are more than four, whoever they are."""

    def execute_together(self, cases: Sequence[Case]) -> Sequence[Observation]:
        if len(cases) > 4:
            raise RuntimeError("too many")
        return super().execute_together(cases)


def replace_errors(case: Case) -> tuple[Any, ...]:
    """Return an error on every rank."""
    from conformance.cases.observation import RankError

    return (RankError(kind="RuntimeError", message="no kernel", category="internal"),) * case.program.world


@pytest.fixture
def unsearched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for no smallest cases: nothing here is about them."""
    monkeypatch.setattr("conformance.runner.pass_two.failures", lambda *_: iter(()))


def run(backend: type[Together], directory: Path, plan: Plan = PLAN) -> tuple[Result, dict[str, CaseRecord]]:
    """Return what a run comes to, and the last record of each case."""
    result = explore(plan, {"it": InProcess(BackendSpec("it", ()), backend=backend())}, directory)
    records = {one.case: one for one in read(directory / "run.jsonl") if isinstance(one, CaseRecord)}
    return result, records


def outcomes(records: dict[str, CaseRecord]) -> dict[str, str]:
    """Return the outcomes by case."""
    return {name: record.outcome for name, record in records.items()}


def test_a_company_whose_results_all_hold_settles_its_cases(tmp_path: Path) -> None:
    result, records = run(Together, tmp_path)
    came = result.companies["it"]
    assert came.settled > 5 * came.alone
    assert 8 <= max(Together.sizes) <= 16
    assert (came.only, came.hidden, result.failures) == ((), (), ())
    assert outcomes(records) == outcomes(run(Reference, tmp_path / "alone")[1])  # type: ignore[arg-type]
    assert {record.company.of for record in records.values() if record.company} <= set(range(2, 17))


def test_cases_gather_from_a_window_and_none_waits_behind_it() -> None:
    gathering: Gathering[int] = Gathering({"programs": 64})
    sent = [group for at in range(300) for group in gathering.add(CompanyOf("programs", at % 2 or at, 8), at)]
    odd = [group for group in sent if len(group) > 1]
    assert [len(group) for group in odd] == [64, 64]
    assert all(group[-1] - group[0] <= 128 for group in odd)
    assert min(each[0] for each in gathering.all()) >= 300 - 128


def test_values_of_a_company_are_bounded() -> None:
    gathering: Gathering[int] = Gathering({"programs": 64})
    assert not gathering.takes(CompanyOf("programs", 2, 1 << 20))
    assert not gathering.takes(CompanyOf("graphs", 2, 8))
    sizes = [len(group) for at in range(40) for group in gathering.add(CompanyOf("programs", 2, 30_000), at)]
    assert sizes == [8, 8, 8, 8]


def test_a_tenth_of_what_company_settles_is_asked_alone_as_well(tmp_path: Path) -> None:
    came = run(Together, tmp_path)[0].companies["it"]
    assert 0.03 < came.alone / (came.alone + came.settled) < 0.25
    assert run(Together, tmp_path / "again")[0].companies["it"] == came


def test_what_fails_in_company_alone_is_a_finding_about_company_and_never_green(tmp_path: Path) -> None:
    result, records = run(WrongInCompany, tmp_path)
    only = [records[name] for name in result.companies["it"].only]
    assert {(one.op, one.outcome, one.company and one.company.outcome) for one in only} == {
        ("permute", "passed", "failed")
    }
    assert all(one.company and one.company.times == 2 and one.case in one.company.cases for one in only)
    assert not result.failures
    assert not result.complete
    footer = next(one for one in read(tmp_path / "run.jsonl") if isinstance(one, Footer))
    assert footer.companies["it"].only


@pytest.mark.usefixtures("unsearched")
def test_what_fails_in_company_has_the_verdict_of_a_fresh_process(tmp_path: Path) -> None:
    worker = Apart(BackendSpec("it", ()), backend=WrongWhenFresh())
    plan = Plan(ops=("permute",), examples=20, suites=("collectives",))
    result = explore(plan, {"it": worker}, tmp_path)
    records = {one.case: one for one in read(tmp_path / "run.jsonl") if isinstance(one, CaseRecord)}
    shown = [one for one in records.values() if one.company and one.outcome == "failed"]
    assert shown
    assert all(one.company and one.company.alone and one.company.outcome is None for one in shown)
    assert result.status == 1


@pytest.mark.usefixtures("unsearched")
def test_what_company_hides_is_named_and_its_operation_is_asked_alone_from_then_on(tmp_path: Path) -> None:
    result, records = run(WrongAlone, tmp_path, Plan(ops=("permute",), examples=120, suites=("collectives",)))
    (hidden, *_) = (records[name] for name in result.companies["it"].hidden)
    assert (hidden.outcome, hidden.company and hidden.company.outcome) == ("failed", "passed")
    assert result.status == 1
    assert sum(one.company is None and one.outcome == "failed" for one in records.values()) > 20


@pytest.mark.usefixtures("unsearched")
def test_a_company_that_fails_as_a_whole_is_taken_apart_until_the_guilty_stand_alone(tmp_path: Path) -> None:
    result, records = run(Raises, tmp_path)
    assert not result.companies["it"].only
    legal = [one for one in records.values() if one.op == "permute" and one.outcome == "errored"]
    assert legal
    assert all(one.company is None or one.company.alone for one in legal)
    assert {one.outcome for one in records.values() if one.op == "broadcast"} == {"passed"}


def test_a_company_that_fails_while_every_part_of_it_holds_is_told_once_it_fails_again(tmp_path: Path) -> None:
    result, records = run(Crowded, tmp_path)
    only = [records[name].company for name in result.companies["it"].only]
    assert only
    assert all(one and one.outcome == "errored" and one.times == 2 and len(one.cases) > 4 for one in only)
    assert {one.outcome for one in records.values()} <= {"passed", "unsupported"}
    assert not result.complete


@pytest.mark.parametrize("most", [1, 257])
def test_a_company_of_one_or_of_too_many_is_refused_as_a_declaration(most: int, tmp_path: Path) -> None:
    class Wrong(Together):
        together: ClassVar = {"programs": most}  # type: ignore[assignment]  # as above

    worker = InProcess(BackendSpec("it", ()), backend=Wrong())
    with pytest.raises(Exception, match="2 to 256 are right"):
        worker.ready  # noqa: B018 - it loads the backend


def test_a_company_that_ends_its_process_again_and_again_is_named_and_its_cases_are_judged_alone(
    tmp_path: Path, bad: Callable[[str], str]
) -> None:
    plan = Plan(ops=("broadcast",), examples=12, suites=("collectives",))
    with Worker(find(bad("lonely"))) as worker:
        result = explore(plan, {"it": worker}, tmp_path)
    came = result.companies["it"]
    (first, *_) = (one for one in read(tmp_path / "run.jsonl") if isinstance(one, CaseRecord) and one.case in came.only)
    assert first.company is not None
    assert (first.outcome, first.company.outcome, first.company.times) == ("passed", "crashed", 2)
    assert result.counts["it"].keys() <= {"passed", "unsupported"}
    assert (came.settled, result.status) == (0, 3)
