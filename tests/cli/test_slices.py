"""``--slice``, ``--jobs``, ``merge`` and ``--against`` as commands."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Conformance

ONE = ("-b", "reference", "--op", "broadcast", "--suite", "collectives", "--examples", 40)


def cases(folder: str) -> list[dict[str, object]]:
    lines = [json.loads(line) for line in (Path(folder) / "run.jsonl").read_text().splitlines()]
    return [{**line, "seconds": 0, "note": None} for line in lines if line["type"] == "case"]


def test_slices_and_jobs_make_one_run(conformance: Conformance) -> None:
    for at in (1, 2):
        ended = conformance("run", *ONE, "--slice", f"{at}/2", "-o", f"part{at}")
        assert (ended.status, f"slice {at} of 2" in ended.out) == (0, True), ended.err
    merged = conformance("merge", "part2", "part1", "-o", "merged", "--in-process")
    whole = conformance("run", *ONE, "--jobs", 2, "-o", "jobs")
    assert merged.status == whole.status == 0
    assert cases("merged") == cases("jobs")
    assert json.loads(Path("merged/ctrf.json").read_text())["results"]["summary"]["failed"] == 0
    again = conformance("run", *ONE, "--jobs", 2, "-o", "jobs")
    assert (again.status, "choose another folder" in again.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [
        (("run", "--slice", "0/2"), 2, "'0/2' is no part of a run; write K/N"),
        (("run", "--slice", "3/2"), 2, "is no part of a run"),
        (("run", "--slice", "1"), 2, "is no part of a run"),
        (("run", "--slice", "1/2", "--jobs", 2), 2, "give one of the three"),
        (("run", "--slice", "1/2", "--time-budget", "5s"), 2, "--time-budget means nothing beside --slice"),
        (("run", "--jobs", 2, "--coverage"), 2, "--coverage means nothing beside --jobs"),
        (("run", "--jobs", 0), 2, "0 is not in the range"),
        (("merge", "nowhere"), 2, "nowhere holds no slice.json"),
        (("merge",), 2, "Missing argument"),
        (("run", "--against", "nowhere"), 2, "nowhere holds no run.jsonl"),
    ],
)
def test_bad_input_is_one_line(conformance: Conformance, arguments: tuple[object, ...], status: int, says: str) -> None:
    ended = conformance(*arguments)
    assert (ended.status, says in ended.err, len(ended.err.splitlines())) == (status, True, 1), ended.err


def test_a_missing_slice_is_incomplete(conformance: Conformance) -> None:
    conformance("run", *ONE, "--slice", "1/2", "-o", "part1")
    ended = conformance("merge", "part1", "-o", "merged")
    assert (ended.status, "slice 2 of 2 is missing" in ended.err) == (3, True)
    assert not Path("merged").exists()


def test_a_run_against_an_earlier_one_fails_for_what_regressed_alone(
    conformance: Conformance, wrong: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    bad = ("-b", wrong, *ONE[2:])
    assert conformance("run", *bad, "-o", "before").status == 1
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    same = conformance("run", *bad, "-o", "same", "--against", "before")
    assert (same.status in (0, 3), "nothing changed" in same.out) == (True, True), same.out
    assert (tmp_path / "summary.md").read_text().startswith("<!-- mesh-conformance diff -->\n## ✓ Conformance")
    text = Path("before/run.jsonl").read_text()
    text = text.replace('"outcome":"failed"', '"outcome":"passed"').replace('"cores":', '"cores":"many","were":')
    Path("better").mkdir()
    Path("better/run.jsonl").write_text(text)
    worse = conformance("run", *bad, "-o", "worse", "--against", "better", "--json")
    assert (worse.status, json.loads(worse.out)["against"]["counts"]["regressed"] > 0) == (1, True)
    assert "regressed" in Path("worse/diff.md").read_text()


def test_a_backend_that_slices_alone_name_is_not_started_and_the_verdict_says_what_it_rests_on(
    conformance: Conformance, tmp_path: Path
) -> None:
    conformance("run", *ONE, "--slice", "1/1", "-o", "part1")
    told = conformance("merge", "part1", "-o", "merged")
    assert "taken over from the log of an earlier run or of slices" in told.out
    assert json.loads(Path("merged/report.json").read_text())["basis"].startswith("The verdicts rest in part on files")
    log = Path("part1/run.jsonl")
    log.write_text(log.read_text().replace('"reference"', f'"exec:touch {tmp_path / "started"}"'))
    ended = conformance("merge", "part1", "-o", "again")
    assert (ended.status, "what a file alone names is not started" in ended.err) == (2, True), ended
    assert not (tmp_path / "started").exists()


def test_a_pipe_in_the_place_of_a_note_is_not_waited_for(conformance: Conformance) -> None:
    Path("part1").mkdir()
    os.mkfifo("part1/slice.json")
    ended = conformance("merge", "part1", "-o", "merged")
    assert (ended.status, "part1/slice.json is no note of a slice: it is not a regular file" in ended.err) == (2, True)
