"""Flips made on purpose, and the cause that experiments find: never a wrong one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from conformance.backends.reference import Reference
from conformance.cases.tensor.dtypes import Array
from conformance.history.causes.cause import Cause
from conformance.history.causes.laboratory import LiveLaboratory
from conformance.history.causes.of_replays import joined
from conformance.history.causes.of_versions import Trial
from conformance.history.causes.search import cause_of
from conformance.history.changes import compare
from conformance.history.differences import Difference
from conformance.history.reading import read_outline
from conformance.history.versions.bisection import TriedVersions
from conformance.runner.log.backend_sources import SOURCES
from conformance.runner.log.environment import digests
from conformance.runner.log.environment import environment as here
from tests.history.conftest import (
    Edit,
    Lines,
    described,
    edited,
    entry,
    environment,
    failing,
    footer,
    header,
    in_process,
    lines_of,
    passed,
    record,
    run_of,
    write,
)

TODAY = date(2026, 11, 29)
DEAD = "0" * 64
KNOWN = {"case": "broadcast/bool-2/000000000000", "backend": "it", "clause": "collective.C2", "outcome": "failed",
         "issue": "https://x.org/1", "owner": "me", "expiry": "2026-01-01"}  # fmt: skip


def expected(state: str) -> dict[str, Any]:
    return {"kind": "known_failure", "known": KNOWN, "where": "known.json:2", "state": state, "says": f"is {state}"}


def seeded(lines: Lines) -> Lines:
    """Give every case the origin of another seed."""
    return [
        {**line, "case": line["case"][:-3] + "abc", "origin": line["origin"].replace("/0/", "/7/")}
        if "origin" in line
        else line
        for line in header(seed=7)(lines)
    ]


def of_deck(lines: Lines) -> Lines:
    """Give every case an origin in the deck."""
    return [{**line, "origin": "deck: table of graphs, row 1"} if "origin" in line else line for line in lines]


class Flip(NamedTuple):
    """Edits of the two logs, the cause, and a word of its sentence."""

    before: tuple[Edit, ...]
    after: tuple[Edit, ...]
    cause: str
    says: str


NONE: tuple[Edit, ...] = ()
FLIPS = {
    "judge changed": Flip(NONE, (failing(None), header(spec_digest=DEAD)), "specification", "collective.C2"),
    "clause added": Flip(
        NONE,
        (
            failing(None, clause="broadcast.C9", clauses={"broadcast.C9": "broken"}),
            header(spec_digest=DEAD, reference_digest=DEAD),
        ),
        "specification",
        "broadcast.C9 did not speak",
    ),
    "reference changed": Flip(NONE, (failing(None), header(reference_digest=DEAD)), "reference", "collective.C2"),
    "both changed": Flip(
        NONE,
        (failing(None, clause="collective.C2"), header(spec_digest=DEAD, reference_digest=DEAD)),
        "suite",
        "both differ",
    ),
    "number model declared": Flip(
        (entry(number_model={"float32": {"sum": "wide"}}),), (failing(None),), "terms", "number model"
    ),
    "guarantee declared": Flip(NONE, (failing(None), entry(guarantees=["run_to_run"])), "terms", "guarantees"),
    "claims narrowed": Flip(
        NONE,
        (record({"outcome": "unsupported", "clauses": {}, "detail": "claims"}), entry(claims={})),
        "claims",
        "later claims leave it out",
    ),
    "seed": Flip(NONE, (seeded,), "plan", "seed 7"),
    "suite removed": Flip(NONE, (record(None), header(suites=["async"])), "plan", "suite collectives"),
    "operation removed": Flip(NONE, (record(None), header(ops=["all_gather"])), "plan", "not asked for broadcast"),
    "fewer examples": Flip(NONE, (record(None), header(examples=1)), "plan", "draws of collectives"),
    "backend removed": Flip(
        NONE,
        (lambda lines: [line for line in header(backends=[])(lines) if line["type"] != "case"],),
        "plan",
        "did not judge it",
    ),
    "known failure expired": Flip(
        (failing(expected=expected("as_expected")),),
        (failing(expected=expected("expired")),),
        "expectation",
        "is expired",
    ),
    "known failure deleted": Flip(
        (failing(expected=expected("as_expected")),), (failing(),), "expectation", "nobody says any more"
    ),
    "run killed": Flip(NONE, (record(None), lambda lines: lines[:-1]), "ended", "no footer"),
    "time budget": Flip(NONE, (record(None), footer(undrawn=["collectives of broadcast"])), "ended", "budget"),
    "no deck": Flip((of_deck, environment(deck="a")), (of_deck, record(None)), "plan", "asked no deck"),
    "another deck": Flip(
        (of_deck, environment(deck="a")), (of_deck, environment(deck="b"), record(None)), "plan", "another deck (b"
    ),
    "cut inside the deck": Flip(
        (of_deck, environment(deck="a")),
        (of_deck, environment(deck="a"), record(None), footer(undrawn=["the deck"])),
        "ended",
        "before all of the deck was asked",
    ),
    "draws by time": Flip(
        (environment(deck="a"),), (environment(deck="a"), record(None)), "ended", "as long as there is time"
    ),
    "deck alone": Flip(
        (environment(deck="a"),),
        (environment(deck="a"), header(profile="deck"), record(None)),
        "plan",
        "asked the deck and drew nothing",
    ),
    "not run": Flip(
        NONE, (record({"outcome": "not_run", "clauses": {}, "detail": "the time budget was spent"}),), "ended", "budget"
    ),
    "adapter raised": Flip(
        NONE, (record({"outcome": "adapter_error", "clauses": {}, "detail": "KeyError"}),), "adapter", "KeyError"
    ),
    "nothing changed": Flip(NONE, (failing(),), "flaky", "1 of 2"),
    "revision unknown": Flip(
        (environment(**{SOURCES + "it": None}),), (environment(**{SOURCES + "it": None}), failing()), "unexplained", ""
    ),
    "failed after others alone": Flip(
        NONE,
        (
            failing(
                unrepeated="crashed",
            ),
            environment(processor="other"),
        ),
        "flaky",
        "1 of 2",
    ),
}


def found(
    before: Lines, after: Lines, folder: Path, laboratory: LiveLaboratory | None = None, trial: Trial | None = None
) -> Cause:
    one, two = (read_outline(write(lines, folder / name)) for lines, name in ((before, "a"), (after, "b")))
    comparison = compare(one, two)
    changes = [change for change in comparison.changes if change.kind != "new"]
    return cause_of(changes[0], comparison, TODAY, laboratory, trial=trial)


@pytest.mark.parametrize("name", FLIPS)
def test_logs_alone_prove_a_cause(name: str, base: Lines, tmp_path: Path) -> None:
    flip = FLIPS[name]
    cause = found(edited(base, *flip.before), edited(base, *flip.after), tmp_path)
    assert (cause.sort, flip.says in cause.says) == (flip.cause, True), cause


class Version(Reference):
    """Of version 2 broadcast gives one more than it should."""

    def __init__(self, version: str, fails: Any = lambda: True) -> None:
        super().__init__()
        self.version, self.fails = version, fails

    def describe(self) -> dict[str, str]:
        return {"jax": self.version}

    def broadcast(self, blocks: list[Array], *, root: int, groups: Any) -> list[Array]:
        right = super().__getattr__("broadcast")(blocks, root=root, groups=groups)
        return [np.zeros_like(one) for one in right] if self.version == "2" and self.fails() else right


def laboratory(backend: Reference) -> LiveLaboratory:
    worker = in_process(backend)
    return LiveLaboratory("it", worker, 20.0, lambda limit: in_process(backend))


REPLAYED = [
    (NONE, "package", "jax 1 → 2"),
    ((environment(processor="another", cores="64"),), "unexplained", "2 things differ: jax 1 → 2"),
    (
        (described(jax="2"), environment(processor="another", cores="64")),
        "environment",
        "processor another",
    ),
    ((described(jax="2"), environment(adapters="0")), "adapter", "adapters"),
    ((described(jax="2", it="0"), environment(**{SOURCES + "it": "1"})), "backend", f"{SOURCES}it 1 → 0"),
    ((header(spec_digest=DEAD),), "unexplained", "jax 1 → 2"),
]
"""What the earlier run has otherwise, beside version 1; the cause that replays of version 2 find."""


@pytest.mark.parametrize(
    ("edits", "sort", "says"), REPLAYED, ids=["version", "two things", "machine", "adapter", "backend", "judge too"]
)
def test_replays_find_what_differs(edits: tuple[Edit, ...], sort: str, says: str, tmp_path: Path) -> None:
    before, after = (lines_of(run_of(Version(number), tmp_path / number)) for number in "12")
    cause = found(edited(before, *edits), after, tmp_path, laboratory(Version("2")))
    assert (cause.sort, says in cause.says) == (sort, True), cause


@pytest.mark.parametrize(("backend", "called"), [("acme", "acme"), ("acme:Acme", "acme"), ("acme.one:Acme", "acme")])
def test_the_version_and_the_files_of_a_backend_change_together(backend: str, called: str) -> None:
    files = Difference("environment", f"{SOURCES}{backend}", "1" * 16, "2" * 16)
    assert [len(one) for one in joined([Difference("environment", called, "0.1", "0.2"), files])] == [2]
    assert [len(one) for one in joined([Difference("package", "numpy", "2.3", "2.4"), files])] == [1, 1]


def test_what_decks_two_runs_were_asked_decides_no_answer(tmp_path: Path) -> None:
    before, after = (
        edited(lines_of(run_of(Version(number), tmp_path / number)), environment(deck="a")) for number in "12"
    )
    cause = found(before, after, tmp_path, laboratory(Version("2")))
    assert (cause.sort, cause.says) == ("package", "jax 1 → 2"), cause


def test_a_flake_at_30_percent_is_told_by_replays_although_a_version_changed(tmp_path: Path) -> None:
    draws = iter([True, *([False, False, True] * 40)])
    before = lines_of(run_of(Version("1"), tmp_path / "1"))
    after = lines_of(run_of(Version("2"), tmp_path / "2"))
    cause = found(before, after, tmp_path, laboratory(Version("2", lambda: next(draws))))
    assert (cause.sort, cause.of, cause.expires) == ("flaky", 10, date(2026, 12, 13))
    assert 0 < (cause.failed or 0) < 10


def test_what_fails_in_a_run_and_never_here_with_nothing_between_is_flaky(tmp_path: Path) -> None:
    before, after = (lines_of(run_of(Version(number), tmp_path / number)) for number in "12")
    cause = found(before, after, tmp_path, laboratory(Version("2", lambda: False)))
    assert (cause.sort, cause.failed, cause.of) == ("flaky", 1, 11)


def test_declarations_are_told_from_the_judge_by_judging_here(base: Lines, tmp_path: Path) -> None:
    after = edited(base, failing(None), header(spec_digest=DEAD), entry(follows=["jax"]))
    cause = found(base, after, tmp_path, laboratory(Reference()))
    assert (cause.sort, cause.evidence[-1]) == ("specification", "by either run's declarations it comes to passed here")


def test_without_a_laboratory_another_observation_is_unexplained_and_says_how_to_go_on(
    base: Lines, tmp_path: Path
) -> None:
    cause = found(base, edited(base, failing(), environment(processor="another")), tmp_path)
    assert (cause.sort, "--replay" in (cause.then or "")) == ("unexplained", True)


@pytest.mark.parametrize(
    ("turns", "sort", "says"),
    [
        ("1.5", "package", "jax 1 → 1.5"),
        ("9", "unexplained", "comes to passed with the first versions and with the last"),
    ],
)
def test_versions_between_two_runs_are_tried_in_environments_of_their_own(
    turns: str, sort: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.history.causes.of_versions.versions_of", lambda wanted: ("1", "1.5", "2"))
    before, after = (lines_of(run_of(Version(number), tmp_path / number)) for number in "12")
    given = []

    def trial(versions: Mapping[str, str], beside: Sequence[str], file: Path, backend: str) -> TriedVersions:
        given.append((list(beside), file.is_file(), backend))
        return TriedVersions("failed collective.C2" if versions["jax"] >= turns else "passed")

    cause = found(edited(before, environment(processor="another")), after, tmp_path, trial=trial)
    assert (cause.sort, says in cause.says) == (sort, True), cause
    assert given[0] == ([], True, "it")


def test_what_runs_neither_suite_nor_environment_of_a_run_explains_nothing(tmp_path: Path) -> None:
    before, after = (lines_of(run_of(Version(number), tmp_path / number)) for number in "12")
    cause = found(before, after, tmp_path, laboratory(Version("3")))
    assert (cause.sort, "what neither run judged" in cause.says) == ("unexplained", True)


def test_a_laboratory_has_the_header_of_a_run_made_here(base: Lines) -> None:
    head = laboratory(Reference()).head
    assert (head.spec_digest, head.reference_digest) == digests()
    assert (
        {**here(), "case limit": "20 s", "sandbox": "none", SOURCES + "it": "0"}
        == base[0]["environment"]
        == head.environment
    )


def test_a_case_that_is_stored_nowhere_and_drawn_as_another_cannot_be_replayed(base: Lines, tmp_path: Path) -> None:
    other = {"case": passed(base)[:-12] + "0" * 12}
    edits = (record(other), environment(processor="another"))
    cause = found(edited(base, *edits), edited(base, *edits[:1], failing()), tmp_path, laboratory(Reference()))
    assert cause.sort in ("unexplained", "flaky"), cause
