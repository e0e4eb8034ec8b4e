"""A deck made to fit a specification that went on: what it lacks is added, and what nothing demands makes room."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conformance.qualification.deck import room
from conformance.qualification.deck import topup as module
from conformance.qualification.deck.candidate import CampaignError, Candidate, kept
from conformance.qualification.deck.candidates import campaign, drawn
from conformance.qualification.deck.choose import Aims
from conformance.qualification.deck.demands import Demand
from conformance.qualification.deck.freeze import freeze
from conformance.qualification.deck.mutant import Mutant
from conformance.qualification.deck.room import for_all_claims, parted, roomier, without
from conformance.qualification.deck.topup import additions, missing_clauses, topup
from conformance.vectors.deck import read_deck
from conformance.vectors.power import read_kills

NOBODY = Aims({}, {})
MUTANT = Mutant("M", "collectives", "written", True, lambda one: one.facts.op == "permute")


def candidate(name: str, clause: str, *words: str) -> Candidate:
    return Candidate(
        name=name,
        family="collectives",
        suite="collectives",
        op="permute",
        origin="seed 1 draw 2",
        form="program",
        seconds=0.001,
        features={"permute": {"dtype": ["int32"]}},
        parts=[([clause], list(words))],
        text=b"{}",
    )


def drawn_cases(folder: Path, op: str, count: int) -> list[Candidate]:
    source = next(each for each in drawn([3], count, ["collectives"]) if each.suite == "collectives" and each.op == op)
    campaign(folder, [source], lambda line: None)
    return kept(folder / f"{source.name}.zlib", list[Candidate])


def test_cases_of_a_clause_that_no_three_are_about_are_added() -> None:
    old = [candidate(f"old {number}", "permute.C1", "a") for number in range(3)]
    fresh = [candidate(f"new {number}", "permute.C2", "a") for number in range(9)]
    assert len(additions(old, fresh, NOBODY, {"a"})) == 3
    assert additions(old, [candidate("another", "permute.C1", "a")], NOBODY, {"a"}) == []


def test_a_case_with_a_word_that_no_case_ever_had_is_added() -> None:
    old = [candidate(f"old {number}", "permute.C1", "a") for number in range(3)]
    fresh = [candidate("same", "permute.C1", "a"), candidate("new", "permute.C1", "a", "b")]
    assert [each.name for each in additions(old, fresh, NOBODY, {"a"})] == ["new"]
    assert additions(old, fresh, NOBODY, {"a", "b"}) == []


def test_room_is_made_by_the_last_cases_that_nothing_demands() -> None:
    cases = [candidate(str(number), "permute.C1") for number in range(4)]
    asked = [Demand("case of permute.C1", (0, 3), 2)]
    assert [each.name for each in without(cases, asked, 1, range(4))] == ["0", "1", "3"]
    with pytest.raises(CampaignError, match="2 cases are demanded"):
        without(cases, asked, 3, range(4))


def test_each_family_makes_the_room_that_its_own_new_cases_take() -> None:
    assert parted(5, {"graphs": 2, "types": 1}) == {"graphs": 4, "types": 1}
    cases = [candidate("a", "permute.C1"), msgspec.structs.replace(candidate("b", "graph.C1"), family="graphs")]
    assert for_all_claims(cases, "collectives", {}, {}) == [0]


def test_what_a_mutant_dies_of_within_published_claims_makes_no_room() -> None:
    few = msgspec.structs.replace(candidate("few", "permute.C1"), features={"permute": {"dtype": ["int8"]}})
    cases = [*(candidate(str(number), "permute.C1") for number in range(6)), few]
    killed = {each.name: (MUTANT.name,) for each in cases}
    for claims in ({"permute": {"dtype": ["int8"]}}, {"permute": {"dtype": ["int32"]}}):
        left = roomier(cases, "collectives", 3, Aims({"one": claims}, {}), killed, [MUTANT])
        assert (few in left) == (claims["permute"]["dtype"] == ["int8"]), "within other claims any other case does"


def test_of_what_nobody_demands_the_least_for_any_claims_makes_room() -> None:
    cases = [candidate(str(number), "permute.C1", f"word {number}") for number in range(6)]
    cases.append(
        msgspec.structs.replace(candidate("few", "permute.C1", "word 0"), features={"permute": {"dtype": ["int8"]}})
    )
    assert for_all_claims(cases, "collectives", {}, {})[-1] == 6
    assert for_all_claims(cases, "collectives", {"one": {"permute": {"dtype": ["int8"]}}}, {})[-1] != 6


def test_of_what_nothing_demands_the_last_in_the_best_order_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = drawn_cases(tmp_path / "old", "permute", 6)
    freeze(tmp_path, "here", old, old, {each.name: (MUTANT.name,) for each in old}, [MUTANT])
    sources = [each for each in drawn([3], 6, ["collectives"]) if (each.suite, each.op) == ("collectives", "shuffle")]
    monkeypatch.setattr(module, "_sources", lambda missing, seeds, examples: sources)
    monkeypatch.setattr(module, "kills", lambda folder, family, mine, tell, jobs: {each.name: () for each in mine})
    monkeypatch.setattr(module, "MOST_CASES", 7)
    monkeypatch.setattr(room, "demands_of", lambda cases, aims: [])
    monkeypatch.setattr(module, "additions", lambda kept, fresh, aims, words: list(fresh))
    topup(tmp_path, tmp_path, NOBODY, [MUTANT], (3,), 6, 1, lambda line: None)
    left = read_deck(tmp_path / "deck.jsonl.gz").cases
    assert len(left) == 7
    assert any(one.op == "shuffle" for one in left)


def test_clauses_that_a_run_expects_and_no_three_cases_are_about_are_missing() -> None:
    assert "permute.C1" in missing_clauses([candidate("a", "permute.C1")])
    assert "permute.C1" not in missing_clauses([candidate(str(number), "permute.C1") for number in range(3)])


def test_a_deck_is_topped_up_in_place_and_what_it_knew_of_mutants_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = drawn_cases(tmp_path / "old", "permute", 6)
    freeze(tmp_path, "here", old, old, {each.name: (MUTANT.name,) for each in old}, [MUTANT])
    (source,) = [each for each in drawn([3], 6, ["collectives"]) if (each.suite, each.op) == ("collectives", "shuffle")]
    monkeypatch.setattr(module, "_sources", lambda missing, seeds, examples: [source])
    monkeypatch.setattr(module, "kills", lambda folder, family, mine, tell, jobs: {each.name: () for each in mine})
    topup(tmp_path, tmp_path, NOBODY, [MUTANT], (3,), 6, 1, lambda line: None)
    deck, kills = read_deck(tmp_path / "deck.jsonl.gz"), read_kills(tmp_path / "kills.json.gz")
    assert deck.made == "here; topped up"
    assert {each.name for each in old} < {one.name for one in deck.cases}
    assert any(one.op == "shuffle" for one in deck.cases)
    (dies,) = kills.mutants
    assert {each.name for each in old} <= {kills.cases[number] for number in dies.kills}


def test_what_is_no_case_any_more_is_left_out_and_what_means_something_else_is_told(tmp_path: Path) -> None:
    old = drawn_cases(tmp_path / "old", "permute", 6)
    freeze(tmp_path, "here", old, old, {}, [])
    first, second, *rest = read_deck(tmp_path / "deck.jsonl.gz").cases
    gone = msgspec.structs.replace(first, text=msgspec.Raw(b"{}"))
    other = msgspec.structs.replace(second, meaning="0" * 16)
    deck = msgspec.structs.replace(read_deck(tmp_path / "deck.jsonl.gz"), cases=(gone, other, *rest))
    told: list[str] = []
    found, changed = module._meant_now(deck.cases, told.append)
    assert [each.name for each in found] == [second.name, *(one.name for one in rest)]
    assert [each.name for each in changed] == [second.name]
    assert told == [f"{first.name} ({first.origin}) is no case any more"]
