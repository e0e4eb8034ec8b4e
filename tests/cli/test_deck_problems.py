"""What is wrong with the deck is named, ends with status 3, is never green and overwrites nothing."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from conformance.runner import deck as of_runner
from conformance.vectors import deck as of_vectors
from conformance.vectors.deck import Deck, deck, read_deck
from conformance.vectors.deck_error import DeckError
from tests.cli.conftest import Conformance

RUN = ("run", "-b", "reference", "--op", "barrier", "--suite", "collectives", "--in-process")


def wrong_meaning(*, last: bool = False) -> Deck:
    """Return the deck with a case that says it means something else: all, or the last of those that are asked."""
    whole = deck()
    mine = [one.name for one in whole.cases if one.op == "barrier" and one.suite == "collectives"]
    changed = {mine[-1]} if last else {*mine}
    cases = tuple(replace(one, meaning="0" * 16) if one.name in changed else one for one in whole.cases)
    return Deck(made=whole.made, digest=whole.digest, tables=whole.tables, cases=cases)


@pytest.mark.parametrize("profile", ["deck", "quick", "default", "nightly"])
def test_a_case_that_means_something_else_ends_a_run_of_every_profile(
    profile: str, conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = wrong_meaning()
    monkeypatch.setattr(of_runner, "deck", lambda: other)
    ended = conformance(*RUN, "--profile", profile, "-o", "out")
    assert (ended.status, "no longer means what its digest says" in ended.err) == (3, True)
    assert ended.err.strip().count("\n") == 0


def test_what_was_judged_before_it_is_no_run_and_is_not_written_over(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = wrong_meaning(last=True)
    monkeypatch.setattr(of_runner, "deck", lambda: other)
    assert conformance(*RUN, "-o", "out").status == 3
    log = Path("out/run.jsonl").read_bytes()
    assert conformance("report", "out", "-o", "page").status == 3
    again = conformance(*RUN, "-o", "out")
    assert (again.status, "choose another folder" in again.err) == (2, True)
    assert Path("out/run.jsonl").read_bytes() == log


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda lines: [lines[0].replace(b'"format":1', b'"format":9'), *lines[1:]], "has the format 9"),
        (lambda lines: lines[:-1], "was changed"),
        (lambda lines: [b"[]", *lines[1:]], "is not to be read"),
    ],
)
def test_a_deck_that_does_not_fit_ends_a_run_before_it_begins(
    change: object, says: str, conformance: Conformance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert callable(change)
    lines = gzip.decompress(of_vectors.FILE.read_bytes()).splitlines()
    file = tmp_path / "deck.jsonl.gz"
    file.write_bytes(gzip.compress(b"\n".join(change(lines)), 1))
    with pytest.raises(DeckError, match=says) as caught:
        read_deck(file)

    def broken() -> Deck:
        raise caught.value

    for place in ("conformance.runner.deck.deck", "conformance.runner.log.header.deck"):
        monkeypatch.setattr(place, broken)
    ended = conformance(*RUN, "-o", "out")
    assert (ended.status, says in ended.err, Path("out").exists()) == (3, True, False)


def test_claims_that_leave_nothing_of_the_deck_are_named(conformance: Conformance) -> None:
    Path("nothing.py").write_text(
        "from conformance.backends.reference import Reference\n"
        "class Nothing(Reference):\n"
        "    claims = {'barrier': {'world': []}}\n"
    )
    asked = ("-b", "nothing:Nothing", "--op", "barrier", "--profile", "deck", "--in-process")
    ended = conformance("run", *asked, "-o", "out")
    assert (ended.status, "of the deck lies within the claims" in ended.err) == (3, True)
    ended = conformance("run", *asked[:-3], "--in-process", "-o", "other", "--json")
    assert ended.status == 3
    assert json.loads(ended.out)["status"] == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--profile", "deck", "--examples", 5), "asks the deck and draws nothing: leave out --examples"),
        (("--slice", "1/2", "--timings"), "--timings means nothing beside --slice"),
        (("--jobs", 2, "--timings"), "--timings means nothing beside --jobs"),
    ],
)
def test_words_that_contradict_each_other_are_refused(
    words: tuple[object, ...], says: str, conformance: Conformance
) -> None:
    ended = conformance(*RUN[:-1], *words, "-o", "out")
    assert (ended.status, says in ended.err) == (2, True)
