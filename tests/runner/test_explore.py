"""The engine: what a run writes, how it ends, and that a killed run goes on where it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.backends.base import Backend, Claims
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import case_id
from conformance.cases.codec import load
from conformance.cases.tensor.dtypes import Array
from conformance.judging.subject import Subject
from conformance.judging.verdict import Verdict, judge
from conformance.runner.backend.backend_run import BackendRun
from conformance.runner.budget import Budget
from conformance.runner.explore import explore
from conformance.runner.log.reading import LogError, read
from conformance.runner.offering import draw_and_offer
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord, Failure, Footer, Header
from conformance.runner.reductions.programs import reductions
from conformance.runner.result import Result
from conformance.runner.shrinking.minimise import failures
from conformance.runner.worker.answers import Answer, Broken
from conformance.runner.worker.in_process import InProcess

PLAN = Plan(ops=("all_gather", "broadcast"), examples=80, suites=("collectives",))
FEW = replace(PLAN, examples=40)


class NegativeAxis(Reference):
    """Gathers along axis 0 whenever the axis is negative (jax#20125)."""

    def all_gather(self, blocks: list[Array], *, axis: int, **rest: Any) -> list[Array]:
        return super().__getattr__("all_gather")(blocks, axis=max(axis, 0), **rest)


class TwoBugs(NegativeAxis):
    """Also takes the root for a rank of the world (pytorch#187924)."""

    def broadcast(self, blocks: list[Array], *, root: int, groups: Any) -> list[Array]:
        super().__getattr__("broadcast")(blocks, root=root, groups=groups)
        return [blocks[root].copy() for _ in blocks]


class OnlyFloats(Reference):
    """Claims float32 alone, though it computes everything."""

    @property
    def claims(self) -> Claims:
        return {"all_gather": {"dtype": ["float32"]}}


class Unrounded(Reference):
    """Means over what is no power of two are one unit off, which breaks a *should*; of longer blocks a *must*."""

    def all_reduce(self, blocks: list[Array], *, op: str, groups: Any, **rest: Any) -> list[Array]:
        found = super().__getattr__("all_reduce")(blocks, op=op, groups=groups, **rest)
        if op != "mean" or blocks[0].dtype not in (np.float32, np.float64):
            return found
        for rank in (rank for group in groups if len(group) & (len(group) - 1) for rank in group):
            far = found[rank] * found[rank].dtype.type(1.5) + found[rank].dtype.type(7)
            found[rank] = np.nextafter(found[rank], found[rank].dtype.type(np.inf)) if blocks[0].size < 3 else far
        return found


class Nothing(Reference):
    """Claims nothing."""

    @property
    def claims(self) -> Claims:
        return {}


def in_process(backend: Backend) -> InProcess:
    return InProcess(BackendSpec(name=type(backend).__name__, command=()), backend=backend)


def run(backend: Backend, directory: Path, plan: Plan = PLAN, **options: Any) -> Result:
    return explore(plan, {"it": in_process(backend)}, directory, **options)


@pytest.fixture(scope="module")
def two_bugs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Result, Path]:
    """Return what a run of ``TwoBugs`` found, and the folder it wrote."""
    directory = tmp_path_factory.mktemp("two_bugs")
    return run(TwoBugs(), directory, FEW), directory


@pytest.fixture(scope="module")
def one_bug(tmp_path_factory: pytest.TempPathFactory) -> tuple[Failure, Path]:
    """Return the failure of a run of ``NegativeAxis``, and the folder it wrote."""
    directory = tmp_path_factory.mktemp("one_bug")
    found = run(NegativeAxis(), directory, FEW)
    return next(failure for failure in found.failures if failure.clause == "all_gather.C4"), directory


def test_the_reference_is_conformant_and_the_log_is_whole(tmp_path: Path) -> None:
    result = run(Reference(), tmp_path)
    records = read(tmp_path / "run.jsonl")
    assert (result.status, result.never, result.failures) == (0, (), ())
    assert isinstance(records[0], Header)
    assert isinstance(records[-1], Footer)
    assert records[-1].counts["it"]["passed"] == sum(isinstance(record, CaseRecord) for record in records) > 100


def test_two_bugs_are_two_failures_each_blamed_on_its_clause(two_bugs: tuple[Result, Path]) -> None:
    result, _ = two_bugs
    must = {failure.clause for failure in result.failures if failure.requirement == "must"}
    assert result.status == 1
    assert "all_gather.C4" in must
    assert any(clause in must for clause in ("broadcast.C2", "collective.C7"))


def test_a_failure_is_stored_replays_and_is_minimal(one_bug: tuple[Failure, Path]) -> None:
    failure, directory = one_bug
    case = load(directory / failure.file)
    backend = BackendRun("it", in_process(NegativeAxis()), lambda record: None)
    judged = backend.queries.ask(case)
    assert case_id(case) == failure.case
    assert failure.minimal
    assert (judged.outcome, judged.clauses[failure.clause]) == (failure.outcome, "broken")
    assert case.program.world <= 2
    (operand,) = case.inputs.values()
    assert len(operand.blocks[0].bits) <= 16


def test_every_failing_case_is_explained_by_some_failure(two_bugs: tuple[Result, Path]) -> None:
    result, directory = two_bugs
    failing = {r.case for r in read(directory / "run.jsonl") if isinstance(r, CaseRecord) and r.blame}
    assert failing == {case for failure in result.failures for case in failure.explains}


def test_a_should_never_stands_for_a_must(tmp_path: Path) -> None:
    result = run(Unrounded(), tmp_path, Plan(ops=("all_reduce",), examples=300, suites=("numerics",)))
    musts = {r.case for r in read(tmp_path / "run.jsonl") if isinstance(r, CaseRecord) and r.requirement == "must"}
    assert musts
    assert musts == {case for f in result.failures if f.requirement == "must" for case in f.explains}
    assert result.status == 1


def test_what_no_smallest_case_stands_for_fails_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.runner.shrinking.minimise.WAYS", 0)
    result = run(NegativeAxis(), tmp_path)
    assert (result.status, result.failures) == (1, ())
    assert {record.requirement for record in result.unexplained} == {"must"}


def test_a_run_that_judged_nothing_is_incomplete(tmp_path: Path) -> None:
    result = run(Nothing(), tmp_path)
    assert set(result.counts["it"]) == {"unsupported"}
    assert result.status == 3


def test_what_a_time_budget_left_is_run_by_a_resumed_run(tmp_path: Path) -> None:
    run(Reference(), tmp_path, replace(PLAN, time_budget=0.0))
    result = run(Reference(), tmp_path, resume=True)
    assert (result.status, set(result.counts["it"])) == (0, {"passed"})


def test_a_killed_run_resumes_and_loses_no_record(
    two_bugs: tuple[Result, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.runner.shrinking.minimise.WAYS", 0)  # The records are what is compared.
    log = two_bugs[1] / "run.jsonl"
    whole = [r for r in read(log) if isinstance(r, CaseRecord)]
    lines = log.read_bytes().splitlines(keepends=True)
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "run.jsonl").write_bytes(b"".join(lines[:50]) + lines[50][:20])
    run(TwoBugs(), tmp_path / "cut", FEW, resume=True)
    cut = [r for r in read(tmp_path / "cut" / "run.jsonl") if isinstance(r, CaseRecord)]
    assert [r.case for r in cut[:49]] == [r.case for r in whole[:49]]
    assert {(r.case, r.outcome) for r in cut} == {(r.case, r.outcome) for r in whole}
    assert len(cut) == len(whole)


def test_a_folder_with_a_log_is_never_overwritten(tmp_path: Path) -> None:
    run(Reference(), tmp_path)
    before = (tmp_path / "run.jsonl").read_bytes()
    with pytest.raises(LogError, match="choose another folder"):
        run(Reference(), tmp_path)
    with pytest.raises(LogError, match="the log has seed 0 and this run 1; give --seed 0"):
        run(Reference(), tmp_path, replace(PLAN, seed=1), resume=True)
    assert (tmp_path / "run.jsonl").read_bytes() == before


@pytest.mark.parametrize(("older", "told"), [(b'"format":0', "0"), (b'"was":1', r"\(none named\)")])
def test_a_log_of_another_format_is_refused_and_stays_as_it_is(older: bytes, told: str, tmp_path: Path) -> None:
    plan = Plan(ops=("barrier",), examples=2, suites=("collectives",))
    run(Reference(), tmp_path, plan)
    log = tmp_path / "run.jsonl"
    written = log.read_bytes().replace(b'"format":1', older, 1)
    log.write_bytes(written)
    with pytest.raises(LogError, match=rf"run\.jsonl:1: the log has format {told}; this version reads format 1"):
        run(Reference(), tmp_path, plan, resume=True)
    assert log.read_bytes() == written


@pytest.mark.parametrize("share", [0, 40])
def test_a_run_that_was_killed_in_its_header_is_begun_again(share: int, tmp_path: Path) -> None:
    plan = Plan(ops=("barrier",), examples=2, suites=("collectives",))
    whole = run(Reference(), tmp_path, plan)
    log = tmp_path / "run.jsonl"
    log.write_bytes(log.read_bytes()[:share])
    assert run(Reference(), tmp_path, plan, resume=True).counts == whole.counts


def test_a_record_of_what_was_not_asked_for_is_refused_and_one_that_stands_twice_counts_once(tmp_path: Path) -> None:
    plan = Plan(ops=("barrier",), examples=5, suites=("collectives",))
    run(Reference(), tmp_path, plan)
    header, *cases, _, _ = (tmp_path / "run.jsonl").read_bytes().splitlines(keepends=True)
    log = tmp_path / "run.jsonl"
    log.write_bytes(b"".join([header, *cases, *cases]))
    assert run(Reference(), tmp_path, plan, resume=True).resumed == len(cases)
    log.write_bytes(b"".join([header, cases[0].replace(b'"op":"barrier"', b'"op":"nosuch"')]))
    with pytest.raises(LogError, match="is a case of 'nosuch', which this run does not ask for"):
        run(Reference(), tmp_path, plan, resume=True)


def test_outside_its_claims_a_case_is_unsupported_and_a_working_one_under_claimed(tmp_path: Path) -> None:
    run(OnlyFloats(), tmp_path)
    records = [r for r in read(tmp_path / "run.jsonl") if isinstance(r, CaseRecord)]
    alone = [r for r in records if r.case.startswith("all_gather/")]  # no other collective in the program
    assert {r.outcome for r in alone if r.dtype == "float32"} == {"passed"}
    assert {r.outcome for r in records if r.dtype not in ("float32", "") or r.op != "all_gather"} == {"unsupported"}
    assert any(r.under_claimed for r in records)


class Gone(InProcess):
    """Gives up at once, as a worker does whose backend does not start again."""

    def _execute(self, cases: Sequence[Any]) -> list[Answer]:
        return [Answer(Broken("not_run", "did not start"))] * len(cases)


def test_what_a_backend_that_is_gone_was_not_asked_breaks_nothing(tmp_path: Path) -> None:
    result = explore(PLAN, {"it": Gone(BackendSpec(name="Gone", command=()), backend=Reference())}, tmp_path / "run")
    assert (result.status, result.failures, set(result.counts["it"])) == (3, (), {"not_run"})
    records = [record for record in read(tmp_path / "run" / "run.jsonl") if isinstance(record, CaseRecord)]
    assert not any(record.clauses or record.blame for record in records)


def test_a_spent_time_budget_is_an_incomplete_run_never_a_green_one(tmp_path: Path) -> None:
    result = run(Reference(), tmp_path, replace(PLAN, time_budget=0.0))
    assert (result.status, result.undrawn) == (3, ("collectives of all_gather", "collectives of broadcast"))
    footer = read(tmp_path / "run.jsonl")[-1]
    assert isinstance(footer, Footer)
    assert footer.undrawn == result.undrawn


def test_what_there_is_no_time_to_make_smaller_is_stored_as_it_was_drawn() -> None:
    backend = BackendRun("it", in_process(NegativeAxis()), lambda record: None)
    draw_and_offer(PLAN, [backend], lambda: False, origins=backend.origins)
    stored: dict[str, Any] = {}
    found = list(
        failures(backend, "all_gather", lambda name, case: stored.setdefault(name, case) and name, lambda: True)
    )
    assert found
    assert all((each.minimal, each.alone, each.file) == (False, None, each.case) for each in found)
    assert {name for each in found for name in each.explains} == set(backend.failures.left("all_gather"))


def test_nothing_more_is_drawn_near_the_end_of_a_time_budget_once_something_fails() -> None:
    backend = BackendRun("it", in_process(NegativeAxis()), lambda record: None)
    now = 0.0
    budget = Budget(replace(PLAN, time_budget=100.0), lambda: bool(backend.records.failing.kept), lambda: now)
    now = 80.0
    assert not budget.enough()
    draw_and_offer(PLAN, [backend], lambda: False)
    assert budget.enough()
    assert not budget.late()


def test_no_listed_reduction_of_a_minimal_case_fails_alike_without_triggering_more_clauses(
    one_bug: tuple[Failure, Path],
) -> None:
    failure, directory = one_bug
    backend = BackendRun("it", in_process(NegativeAxis()), lambda record: None)
    case = load(directory / failure.file)
    tried = tuple(reductions(case))
    assert tried
    alike = [small for small in tried if _fails_like(backend, small, failure)]
    assert all(len(backend.queries.ask(small).clauses) > len(backend.queries.ask(case).clauses) for small in alike)


def _fails_like(backend: BackendRun, case: Any, failure: Failure) -> bool:
    try:
        judged = backend.queries.ask(case)
    except (ValueError, IndexError, TypeError):
        return False
    return judged.outcome == failure.outcome and judged.clauses.get(failure.clause) == "broken"


class Narrow(Reference):
    """Claims a few of the cases of all_reduce, and none of broadcast."""

    @property
    def claims(self) -> Claims:
        return {"all_reduce": {"op": ["sum", "max"], "dtype": ["int32"]}, "broadcast": {"groups": []}}


def test_draws_go_on_until_a_narrow_claim_has_a_third(tmp_path: Path) -> None:
    plan = Plan(ops=("all_reduce",), examples=50, suites=("collectives",))
    workers = {"narrow": in_process(Narrow()), "wide": in_process(Reference())}
    result = explore(plan, workers, tmp_path / "a")
    alone = run(Reference(), tmp_path / "b", plan)
    judged = result.counts["narrow"].total() - result.counts["narrow"]["unsupported"]
    assert judged * 3 >= alone.counts["it"].total() > 40
    assert result.counts["wide"] == alone.counts["it"]


def test_a_claim_that_no_draw_meets_does_not_draw_for_ever(tmp_path: Path) -> None:
    plan = Plan(ops=("broadcast",), examples=30, suites=("collectives",))
    result = run(Narrow(), tmp_path, plan)
    # A tenth of the draws, and of those for it alone: nothing of the operation lies within what it claims.
    assert 3 <= result.counts["it"]["unsupported"] <= 15
    assert result.counts["it"].keys() == {"unsupported"}
    assert result.unjudged == {"it": ("broadcast",)}


def test_what_no_case_within_the_claims_is_about_is_told(tmp_path: Path) -> None:
    plan = Plan(ops=("all_reduce",), examples=60, suites=("collectives", "async"))
    silent = run(Narrow(), tmp_path / "a", plan).silent["it"]
    assert "collective.C3" in silent.clauses  # bools, which it never claims
    assert list(silent.suites) == ["async"]
    assert "async.C1" in silent.suites["async"]
    assert read(tmp_path / "a" / "run.jsonl")[-1].silent["it"] == silent  # type: ignore[union-attr]
    assert run(Reference(), tmp_path / "b", plan).silent["it"].suites == {}


def test_a_run_goes_on_with_its_case_limit_alone(tmp_path: Path) -> None:
    run(Nothing(), tmp_path)
    with pytest.raises(LogError, match="has case limit 20 s and this run 60 s; give --case-limit 20s"):
        run(Nothing(), tmp_path, replace(PLAN, case_limit=60.0), resume=True)


class Slips(Reference):
    """Adapts the reference, with lines of its own that do not know about axis 1."""

    adapts = True

    def all_gather(self, blocks: list[Array], *, axis: int, **rest: Any) -> list[Array]:
        if axis == 1:
            raise KeyError(axis)
        return super().__getattr__("all_gather")(blocks, axis=axis, **rest)


def test_an_exception_of_an_adapters_own_lines_is_no_failure_and_leaves_the_run_incomplete(tmp_path: Path) -> None:
    result = run(Slips(), tmp_path, Plan(ops=("all_gather",), examples=60))
    assert result.counts["it"].keys() == {"adapter_error", "passed"}
    assert (result.failures, result.unexplained, result.status) == ((), (), 3)


def test_a_mistake_of_the_judge_costs_one_case_and_leaves_the_run_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def slipping(subject: Subject, *rest: Any) -> Verdict:
        return judge(subject, *rest) if subject.step.attrs.get("axis") != 1 else {}[1]

    monkeypatch.setattr("conformance.runner.meaning.judge", slipping)
    result = run(Reference(), tmp_path, Plan(ops=("all_gather",), examples=60))
    assert result.counts["it"].keys() == {"not_run", "passed"}
    assert (result.failures, result.unexplained, result.status) == ((), (), 3)
    assert "the suite itself raised KeyError in" in result.owed[0].detail
