"""From a run that fails to known failures, and to runs that pass and fail because of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.runner.dialects import suites
from tests.cli.conftest import Conformance

ONE = ("--op", "broadcast", "--suite", "collectives", "--examples", 100, "--in-process")
FOLDER = ("--expectations", "ci")
EVERY_SUITE = ('"suites":["collectives"]', f'"suites":{json.dumps(list(suites()))}')
WHO = ("--issue", "https://acme.example/7", "--owner", "Ann", "--expiry", "2999-12-31")


@pytest.fixture
def known(conformance: Conformance, earlier: Conformance, wrong: str) -> str:
    """Return a backend whose failures are the known ones of ``ci/known.json``, and were found in ``out``."""
    earlier("-b", wrong, *ONE)
    ended = conformance("known", "out", "-o", "ci/known.json", *WHO)
    assert ended.status == 0, ended
    return wrong


def rewrite(old: str, new: str) -> None:
    text = Path("ci/known.json").read_text()
    assert old in text
    Path("ci/known.json").write_text(text.replace(old, new))


def test_the_failures_of_a_run_become_known_and_the_next_run_passes(conformance: Conformance, known: str) -> None:
    ended = conformance("run", "-b", known, *ONE, "-o", "next", "--known", "ci/known.json")
    assert ended.status == 0, ended
    assert "passed: no must clause fails but known ones" in ended.out
    assert "known failure, owner Ann, expires 2999-12-31: https://acme.example/7 (ci/known.json:" in ended.out
    assert conformance("report", "next").status == 0
    assert conformance("report", "out").status == 1


def test_json_has_known_failures_apart_from_new_ones(conformance: Conformance, known: str) -> None:
    ended = conformance("run", "-b", known, *ONE, "-o", "next", "--known", "ci/known.json", "--json")
    data = json.loads(ended.out)
    assert (data["status"], data["failures"], data["unmet"]) == (0, [], [])
    assert "broadcast.C1" in {failure["clause"] for failure in data["known"]}
    assert {failure["expected"]["known"]["owner"] for failure in data["known"]} == {"Ann"}


def test_a_mended_backend_fails_until_its_entries_are_deleted(conformance: Conformance, known: str) -> None:
    rewrite(f'"backend": "{known}"', '"backend": "reference"')
    ended = conformance("run", "-b", "reference", *ONE, "-o", "next", "--known", "ci/known.json")
    assert ended.status == 1
    assert "ci/known.json:2: broadcast/" in ended.out
    assert "on reference passes although it is known to fail" in ended.out
    assert "failed: known failures are not as their entries say" in ended.out
    again = conformance("report", "next")
    assert again.status == 1
    assert "warning: reference: ci/known.json:2: " in again.out


def test_an_expired_entry_is_one_line_and_nothing_runs(conformance: Conformance, known: str) -> None:
    rewrite("2999-12-31", "2026-01-31")
    for words in (("run", "-b", known, *ONE, "-o", "next", "--known", "ci/known.json"), ("report", "out", *FOLDER)):
        ended = conformance(*words)
        assert (ended.status, ended.err.count("\n")) == (2, 1), ended
        assert "ci/known.json:9: " in ended.err
        assert "has an entry that expired on 2026-01-31; mend https://acme.example/7" in ended.err
    assert not Path("next").exists()


def test_an_explanation_of_what_is_gone_is_one_line_and_status_3(
    conformance: Conformance, earlier: Conformance
) -> None:
    earlier("-b", "reference", *ONE)
    told = {"backends": ["reference"], "causes": ["it ends"], "sentence": "s", "owner": "Ann", "expiry": "2999-12-31"}
    Path("ci").mkdir()
    Path("ci/explanations.json").write_text(json.dumps([told]))
    partly = conformance("report", "out", *FOLDER)
    assert (partly.status, partly.err) == (0, ""), "of a part of the operations nothing is said to be gone"
    text = Path("out/run.jsonl").read_text().replace('"ops":["broadcast"]', '"ops":[]').replace(*EVERY_SUITE)
    Path("out/run.jsonl").write_text(text)
    short = conformance("report", "out", *FOLDER)
    assert short.err == "", "100 examples may not have drawn it"
    Path("out/run.jsonl").write_text(text.replace('"examples":100', '"examples":300'))
    ended = conformance("report", "out", *FOLDER)
    assert ended.err == (
        "conformance: ci: no finding of reference has the cause 'it ends' any more; delete its explanation, or ask Ann "
        "for another\n"
    )
    assert Path("out/index.html").exists()
    assert ended.status == 3


def test_a_file_that_is_not_in_order_is_one_line_and_status_2(conformance: Conformance, known: str) -> None:
    rewrite('"clause": "broadcast.C1"', '"clause": "broadcast.C99"')
    ended = conformance("run", "-b", known, *ONE, "-o", "next", "--known", "ci/known.json")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "unknown clause 'broadcast.C99'" in ended.err
    assert "ci/known.json:" in ended.err
    assert not Path("next").exists()


def test_entries_are_added_to_a_file_and_never_twice(conformance: Conformance, known: str) -> None:
    before = json.loads(Path("ci/known.json").read_text())
    chosen = conformance("known", "out", "-o", "one.json", *WHO, "--clause", "broadcast.C1", "--json")
    assert {entry["clause"] for entry in json.loads(chosen.out)} == {"broadcast.C1"}
    assert "0 new and" in conformance("known", "out", "-o", "ci/known.json", *WHO).out
    assert json.loads(Path("ci/known.json").read_text()) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--expiry", "soon"), "expiry should be the last day of the entry, such as 2027-01-31"),
        (("--expiry", "2020-01-31"), "--expiry 2020-01-31 is over"),
        (("--clause", "broadcast.C99"), "unknown clause 'broadcast.C99'; did you mean"),
        (("--clause", "nosuch.C1"), "unknown clause 'nosuch.C1' ("),
        (("--clause", "permute.C1"), "out has no new failure of permute.C1"),
        (("-b", "reference"), "unknown backend of this run 'reference'"),
    ],
)
def test_a_wrong_word_writes_nothing(conformance: Conformance, known: str, words: tuple[str, ...], says: str) -> None:
    ended = conformance("known", "out", "-o", "other.json", *WHO, *words)
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert says in ended.err
    assert not Path("other.json").exists()
