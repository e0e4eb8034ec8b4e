"""A worker gives every case the right outcome, whatever the backend does to its process."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from conformance.backends.discovery import find
from conformance.cases.case import Case, Fault
from conformance.cases.observation import Observation
from conformance.runner.worker.answers import Answer, Broken, Limits, StartError
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.waiting_thread import wait
from conformance.runner.worker.workers import Worker

Make = Callable[..., Case]
ENOUGH = Limits(memory=512 << 20)
"""More than a case needs, however busy the machine is: where nothing hangs no limit is waited for."""

SHORT = replace(ENOUGH, case=3.0)
"""For who hangs: a case that does not is answered in milliseconds, and in 3 s on any machine that runs tests."""


def run(name: str, cases: list[Case], limits: Limits = ENOUGH) -> list[Answer]:
    """Submit all cases at once and return their answers in order."""
    answers: dict[int, Answer] = {}
    with Worker(find(name), limits) as worker:
        tickets = [worker.submit(case) for case in cases]
        while worker.outstanding:
            answers.update(worker.poll(10.0))
        assert sorted(answers) == tickets
    return [answers[ticket] for ticket in tickets]


def bits(answer: Answer) -> str:
    """Return what every rank received."""
    assert isinstance(answer.result, Observation), answer
    assert not answer.result.raised, answer
    received = {block.bits for block in answer.result.results["y"] if block}
    assert len(received) == 1
    return received.pop()


def check(name: str, make: Make, limits: Limits = ENOUGH) -> Broken:
    """Run six cases of which the third is the bad one; return what broke after checking all the others."""
    firsts = [1, 2, 0x42, 4, 5, 6]
    answers = run(name, [make(first) for first in firsts], limits)
    for first, answer in zip(firsts, answers, strict=True):
        if first != 0x42:
            assert bits(answer) == f"{first:02x}" * 4
            assert answer.note is None
    broken = answers[2].result
    assert isinstance(broken, Broken), broken
    return broken


@pytest.mark.parametrize(
    ("module", "outcome", "detail"),
    [
        ("segfault", "crashed", "was killed by SIGSEGV before answering"),
        ("exits", "crashed", "exited with status 0 before answering"),
        ("hangs", "timeout", "no answer within 3 s, the limit for a case"),
        ("hangs_for_good", "timeout", "no answer within 3 s, the limit for a case"),
        ("too_few", "protocol_error", "result 'y' of an observation has 1 blocks for 2 ranks"),
    ],
)
def test_a_broken_process_costs_one_case(
    bad: Callable[[str], str], make: Make, module: str, outcome: str, detail: str
) -> None:
    broken = check(bad(module), make, SHORT if outcome == "timeout" else ENOUGH)
    assert (broken.outcome, broken.detail) == (outcome, detail)


def test_a_program_that_cannot_go_on_is_given_the_backends_patience(bad: Callable[[str], str], make: Make) -> None:
    case = msgspec.structs.replace(make(0x42), faults=(Fault(rank=0, before=0),))
    broken = run(bad("hangs_on_trouble"), [case], replace(SHORT, case=0.7))[0].result
    assert isinstance(broken, Broken)
    assert (broken.outcome, broken.detail) == ("timeout", "no answer within 0.8 s, the limit for a case")


def test_a_backend_may_need_longer_for_a_case_than_the_run_allows(bad: Callable[[str], str], make: Make) -> None:
    broken = run(bad("slow_case"), [make(0x42)], replace(SHORT, case=0.7))[0].result
    assert isinstance(broken, Broken)
    assert (broken.outcome, broken.detail) == ("timeout", "no answer within 1 s, the limit for a case")


def test_memory_over_the_limit_is_a_crash_that_says_so(bad: Callable[[str], str], make: Make) -> None:
    broken = check(bad("eats_memory"), make, ENOUGH)
    assert broken.outcome == "crashed"
    assert "of memory, over the limit of 0.50 GiB" in broken.detail


@pytest.mark.parametrize(
    ("how", "outcome", "detail"),
    [
        ("garbage", "protocol_error", "a reply breaks the protocol"),
        ("not_the_schema", "protocol_error", "Expected `int`, got `str`"),
        ("nested", "protocol_error", "a reply breaks the protocol"),
        ("wrong_seq", "protocol_error", "got reply 4 when reply 3 was due"),
        ("file_trick", "protocol_error", "file '../../etc/passwd' is not the plain name of a file beside it"),
        ("no_hex", "protocol_error", "the bits of a tensor must be lower-case hex digits"),
        ("half_a_line", "timeout", "no answer within 3 s"),
        ("closes", "protocol_error", "closed its reply descriptor without exiting"),
        ("endless", "protocol_error", "a reply line is longer than 64 MiB"),
    ],
)
def test_a_broken_stream_costs_one_case(
    bad_program: Path, make: Make, monkeypatch: pytest.MonkeyPatch, how: str, outcome: str, detail: str
) -> None:
    if how == "closes":  # nobody else lives on: what has ended is told of as late as a busy machine does
        monkeypatch.setattr("conformance.runner.worker.session.REAP", 0.3)
    limits = SHORT if outcome == "timeout" else ENOUGH
    broken = check(f"exec:{sys.executable} {bad_program} {how}", make, limits)
    assert broken.outcome == outcome
    assert detail in broken.detail


def test_the_stderr_of_a_crash_names_the_frames_above_it(bad: Callable[[str], str], make: Make) -> None:
    assert "_misbehave" in check(bad("segfault"), make).stderr_tail


def test_a_chatty_library_changes_nothing(bad: Callable[[str], str], make: Make) -> None:
    assert [bits(answer) for answer in run(bad("chatty"), [make(0x42), make(1)])] == ["42424242", "01010101"]


def test_an_escaped_exception_is_an_error_on_every_rank(bad: Callable[[str], str], make: Make) -> None:
    first, second = run(bad("raises"), [make(0x42), make(1)])
    assert isinstance(first.result, Observation)
    assert [error and error.message for error in first.result.errors] == ["no such luck"] * 2
    assert bits(second) == "01010101"


def test_an_innocent_suspect_passes_alone_and_keeps_the_evidence(bad: Callable[[str], str], make: Make) -> None:
    answers = run(bad("dies_third"), [make(first) for first in range(5)])
    assert [bits(answer) for answer in answers] == [f"{first:02x}" * 4 for first in range(5)]
    assert [answer.note is not None for answer in answers] == [False, False, True, False, True]
    assert "crashed, was killed by SIGABRT" in str(answers[2].note)


def test_a_spent_budget_answers_not_run_with_the_reason(bad: Callable[[str], str], make: Make) -> None:
    answers = run(bad("segfault"), [make(0x42)] * 5, Limits(restarts=2))
    outcomes = [answer.result.outcome for answer in answers if isinstance(answer.result, Broken)]
    assert outcomes == ["crashed", "crashed", "not_run", "not_run", "not_run"]
    assert "the budget of 2 restarts is spent; the last: crashed, was killed by SIGSEGV" in answers[4].result.detail


def test_a_backend_that_cannot_start_says_why(bad: Callable[[str], str], make: Make) -> None:
    with Worker(find(bad("dies_at_import"))) as worker:
        with pytest.raises(StartError, match=r"exited with status 1.*libacme\.so: cannot open"):
            _ = worker.ready
        worker.submit(make(1))
        ((_, answer),) = worker.poll(0.0)
    assert isinstance(answer.result, Broken)
    assert answer.result.outcome == "not_run"


def test_a_start_that_takes_too_long_is_a_timeout() -> None:
    says = pytest.raises(StartError, match=r"no answer within 0\.2 s, the limit for the start")
    with Worker(find("exec:sleep 3600"), Limits(start=0.2)) as worker, says:
        _ = worker.ready


def test_neither_side_waits_for_the_other_when_both_pipes_are_full(make: Make) -> None:
    cases = [make(first % 256, 30_000) for first in range(60)]
    answers = run("reference", cases, Limits(window=60))
    assert [bits(answer)[:2] for answer in answers] == [f"{first:02x}" for first in range(60)]


def test_large_tensors_travel_by_file_and_leave_none(
    make: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Worker(find("reference")) as worker:
        assert bits(worker.ask(make(7, 1 << 20))) == "07" * (1 << 20)
        (folder,) = tmp_path.iterdir()
        assert not list(folder.iterdir())
    assert not list(tmp_path.iterdir())


def test_several_workers_are_served_at_once(bad: Callable[[str], str], make: Make) -> None:
    workers = [Worker(find(name), SHORT) for name in ("reference", bad("hangs"))]
    for worker in workers:
        worker.submit(make(0x42))
    first = wait(workers, 60.0)
    second = wait([worker for worker in workers if worker not in first], 60.0)
    assert [worker.spec.name for worker in first + second] == ["reference", "hangs:Bad"]
    for worker in workers:
        worker.close()


def test_asking_one_case_leaves_the_others_for_poll(make: Make) -> None:
    with Worker(find("reference")) as worker:
        ticket = worker.submit(make(1))
        assert bits(worker.ask(make(2))) == "02020202"
        assert [answered for answered, _ in worker.poll(60.0)] == [ticket]


def test_in_process_has_the_same_interface(make: Make) -> None:
    with InProcess(find("reference")) as worker:
        assert worker.ready.name == "reference"
        tickets = [worker.submit(make(first)) for first in range(3)]
        assert wait([worker], 1.0) == [worker]
        assert [ticket for ticket, _ in worker.poll(0.0)] == tickets
        assert bits(worker.ask(make(7))) == "07070707"


CHANGES = """
import os
from pathlib import Path
from conformance.backends.reference import Reference
class Changes(Reference):
    claims = {"broadcast": {}} if Path(__file__).with_suffix(".once").exists() else {"broadcast": {}, "scan": {}}
    def execute(self, case):
        Path(__file__).with_suffix(".once").touch()
        os._exit(3)
"""


def test_a_backend_that_claims_something_else_when_it_starts_again_is_not_asked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Make
) -> None:
    (tmp_path / "changes.py").write_text(CHANGES)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    answers = run("changes:Changes", [make(1), make(2)], ENOUGH)
    assert "its claims changed when it was started again" in (answers[-1].broken or Broken("not_run", "")).detail


CHANGED = """
import os
from pathlib import Path
from conformance.backends.reference import Reference
class Rewrites(Reference):
    def execute(self, case):
        Path(__file__).write_text(Path(__file__).read_text() + "# other code\\n")
        os._exit(3)
"""


def test_a_backend_whose_code_changes_while_it_is_judged_is_not_asked_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Make
) -> None:
    (tmp_path / "rewrites.py").write_text(CHANGED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(str(tmp_path))
    answers = run("rewrites:Rewrites", [make(1), make(2)], ENOUGH)
    assert "rewrites.py changed while it was judged" in (answers[-1].broken or Broken("not_run", "")).detail
