from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Conformance

ONE = ("--op", "broadcast", "--examples", 100)


def test_a_run_that_conforms_ends_with_0_and_leaves_a_log_and_a_report(earlier: Conformance) -> None:
    ended = earlier("-b", "reference", *ONE)
    assert ended.status == 0, ended
    assert "passed: no must clause fails" in ended.out
    assert "report: out/index.html" in ended.out
    assert {"run.jsonl", "index.html", "report.json", "junit.xml"} <= {path.name for path in Path("out").iterdir()}


def test_a_run_without_a_folder_makes_one_under_runs(conformance: Conformance) -> None:
    assert conformance("run", "-b", "reference", "--op", "broadcast", "--examples", 100).status == 0
    (folder,) = Path("runs").iterdir()
    assert (folder / "run.jsonl").is_file()


def test_a_failing_clause_ends_with_1_and_names_its_requirement_and_replay(
    conformance: Conformance, earlier: Conformance, wrong: str
) -> None:
    ended = earlier("-b", wrong, *ONE, "--in-process")
    assert ended.status == 1
    assert "broadcast.C1 is broken: wrong elements (must, " in ended.out
    replay = next(line for line in ended.out.splitlines() if line.strip().startswith("conformance replay out/cases/"))
    again = conformance(*replay.split()[1:], "--in-process")
    assert again.status == 1
    assert "broadcast.C1" in again.out


def test_json_says_everything_and_nothing_else_is_printed(conformance: Conformance, wrong: str) -> None:
    ended = conformance("run", "-b", f"reference,{wrong}", *ONE, "-o", "out", "--in-process", "--json")
    data = json.loads(ended.out)
    assert data["status"] == ended.status == 1
    assert data["backends"]["reference"]["outcomes"].keys() == {"passed"}
    assert "broadcast.C1" in {failure["clause"] for failure in data["failures"]}
    assert Path(data["report"]).is_file()


def test_a_run_too_short_to_exercise_every_clause_is_incomplete(conformance: Conformance) -> None:
    ended = conformance("run", "-b", "reference", "--op", "permute", "--examples", 1, "-o", "out")
    assert ended.status == 3
    assert "never exercised: permute.C" in ended.out


def test_a_spent_time_budget_is_incomplete_and_says_so(conformance: Conformance) -> None:
    ended = conformance("run", "-b", "reference", *ONE, "--time-budget", "0.001s", "-o", "out")
    assert ended.status == 3
    assert "the time budget was spent before all cases" in ended.out


def test_a_start_is_waited_for_no_longer_than_the_time_budget(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.cli.opening.LATE", 0.5)
    ended = conformance("run", "-b", "exec:sleep 60", *ONE, "--time-budget", "0.5s", "-o", "out")
    assert ended.status == 3
    assert "exec:sleep 60 did not start: no answer when the time budget was spent" in ended.err
    assert not Path("out").exists()


def test_a_run_whose_log_was_cut_off_is_resumed(conformance: Conformance, earlier: Conformance) -> None:
    whole = earlier("-b", "reference", *ONE)
    lines = Path("out/run.jsonl").read_bytes().splitlines(keepends=True)
    Path("out/run.jsonl").write_bytes(b"".join(lines[:9]) + lines[9][:20])
    again = conformance("run", "-b", "reference", *ONE, "-o", "out", "--resume")
    assert (again.status, whole.status) == (0, 0)
    assert len(Path("out/run.jsonl").read_bytes().splitlines()) == len(lines)


def test_a_run_that_left_no_log_is_started_by_resume(conformance: Conformance) -> None:
    ended = conformance("run", "-b", "reference", *ONE, "-o", "out", "--resume")
    assert (ended.status, "taken over" in ended.out) == (0, False)


def test_a_backend_that_removes_the_folder_of_the_run_loses_nothing(conformance: Conformance) -> None:
    Path("rude.py").write_text(
        "import shutil\nfrom conformance.backends.reference import Reference\n"
        "class Rude(Reference):\n    def broadcast(self, blocks, **attributes):\n"
        "        shutil.rmtree('out', ignore_errors=True)\n        return list(blocks)\n"
    )
    ended = conformance("run", "-b", "rude:Rude", *ONE, "--suite", "collectives", "-o", "out", "--in-process")
    assert ended.status == 1, ended
    assert "out/run.jsonl was changed while the run went on; it was written again" in ended.out
    Path("out/index.html").unlink()
    assert conformance("report", "out/run.jsonl").status == 1
    assert Path("out/index.html").is_file()


def test_a_suite_selects_operations_by_their_clauses(conformance: Conformance) -> None:
    ended = conformance("run", "-b", "reference", "--suite", "collectives", *ONE, "-o", "out")
    assert ended.status == 0


def test_a_case_without_an_answer_within_its_limit_is_a_timeout(
    conformance: Conformance, case_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("slow.py").write_text(
        "import time\nfrom conformance.backends.reference import Reference\n"
        "class Slow(Reference):\n    def execute(self, case):\n"
        "        time.sleep(1.5)\n        return super().execute(case)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(Path.cwd()))
    ended = conformance("replay", case_file, "-b", "slow:Slow", "--case-limit", "0.3s")
    assert "no answer within 0.3 s, the limit for a case" in ended.out
    assert conformance("replay", case_file, "-b", "slow:Slow").status == 0


def test_what_failed_is_run_again_and_nothing_is_written(
    conformance: Conformance, earlier: Conformance, wrong: str, tmp_path: Path
) -> None:
    assert earlier("-b", wrong, *ONE, "--in-process").status == 1
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    ended = conformance("run", "--failed", "out", "-b", wrong)
    assert ended.status == 1
    assert "(broadcast.C1): fails as before" in ended.out
    mended = (tmp_path / "wrong_vendor.py").read_text().replace("def broadcast", "def not_broadcast")
    (tmp_path / "wrong_vendor.py").write_text(mended)
    ended = conformance("run", "--failed", "out", "-b", wrong, "--json")
    assert (ended.status, {each["now"] for each in json.loads(ended.out)["failed"]}) == (0, {"passes now"})
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before


def test_failing_cases_without_a_smallest_one_are_not_called_none(
    conformance: Conformance, earlier: Conformance, wrong: str
) -> None:
    assert earlier("-b", wrong, *ONE, "--in-process").status == 1
    log = Path("out/run.jsonl")
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(line for line in lines if '"type":"failure"' not in line))
    ended = conformance("run", "--failed", "out", "-b", wrong)
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "in out are not stored" in ended.err


def test_failures_are_run_again_of_a_run_that_has_some_and_without_other_cases(
    conformance: Conformance, earlier: Conformance
) -> None:
    assert earlier("-b", "reference", *ONE).status == 0
    for words, says in (
        (("--failed", "out"), "out has no failure of reference; there is nothing to run again"),
        (
            ("--failed", "out", "--seed", 1),
            "--failed runs the stored cases of a run, so --seed means nothing beside it",
        ),
        (("--failed", "nosuch"), "nosuch holds no run.jsonl"),
        (("--failed", "out", "-b", "jax"), "unknown backend of this run 'jax'"),
    ):
        ended = conformance("run", *words)
        assert (ended.status, ended.err.count("\n"), says in ended.err) == (2, 1, True), ended
