"""How the deck is made: what was cut is named, and nothing is chosen by the unseen half."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conformance.qualification.deck.__main__ import main
from conformance.qualification.deck.candidate import CampaignError, Candidate, all_of, keep, kept
from conformance.qualification.deck.candidates import Source, campaign, drawn
from conformance.qualification.deck.choose import Aims, choose
from conformance.qualification.deck.curve import CURVE, curves, share, written_into
from conformance.qualification.deck.freeze import freeze
from conformance.qualification.deck.mutant import Mutant, half_of
from conformance.vectors.deck import read_deck
from conformance.vectors.power import power, read_kills


def candidate(
    name: str, *words: str, origin: str = "small call of permute, number 1", dtype: str = "int32"
) -> Candidate:
    return Candidate(
        name=name,
        family="collectives",
        suite="collectives",
        op="permute",
        origin=origin,
        form="program",
        seconds=0.001,
        features={"permute": {"dtype": [dtype]}},
        parts=[(["permute.C1"], list(words))],
        text=b"{}",
    )


def mutant(name: str, *, public: bool = False) -> Mutant:
    return Mutant(name, "collectives", "written", public, lambda one: False)


UNSEEN = next(mutant(f"M{number}") for number in range(100) if half_of(f"M{number}") == "unseen")
SEEN = next(mutant(f"M{number}") for number in range(100) if half_of(f"M{number}") == "seen")
NOBODY = Aims({}, {})
ONE, OTHER = candidate("one", "a", "b"), candidate("other", "a", "c", dtype="float32")


def test_a_campaign_that_was_cut_is_named_with_the_step_that_goes_on(tmp_path: Path) -> None:
    keep(tmp_path / "x.zlib", [ONE])
    assert all_of(tmp_path, ["x"], "candidates") == [ONE]
    with pytest.raises(
        CampaignError, match="was cut: 1 of 2 parts are missing, y first; go on with the step candidates"
    ):
        all_of(tmp_path, ["x", "y"], "candidates")


def test_a_part_that_is_not_to_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.zlib").write_bytes(b"half a file")
    with pytest.raises(CampaignError, match="is no part of a campaign"):
        kept(tmp_path / "x.zlib", list[Candidate])


def test_the_command_ends_with_3_where_a_campaign_was_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shortlist", str(tmp_path), "--families", "schedules"]) == 3
    assert "was cut" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_command_refuses_what_is_no_family_and_no_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["candidates", str(tmp_path), "--families", "colectives"]) == 2
    assert main(["candidates", str(tmp_path), "--seeds", "one"]) == 2
    assert "'colectives'" in capsys.readouterr().err


def test_a_campaign_goes_on_from_what_is_on_disk(tmp_path: Path) -> None:
    source = next(
        each for each in drawn([3], 2, ["collectives"]) if each.suite == "collectives" and each.op == "permute"
    )
    told: list[str] = []
    campaign(tmp_path, [source], told.append)
    made = kept(tmp_path / f"{source.name}.zlib", list[Candidate])
    assert {each.op for each in made} == {"permute"}
    assert all(each.parts and each.features["permute"] for each in made)
    never = Source(source.name, source.suite, source.op, lambda: pytest.fail("it was drawn again"))
    campaign(tmp_path, [never], told.append)
    assert len(told) == 1


def test_nothing_is_chosen_by_the_unseen_half() -> None:
    plain = choose([ONE, OTHER], "collectives", 2, NOBODY)
    last = plain[-1]
    assert choose([ONE, OTHER], "collectives", 2, NOBODY, {last.name: [UNSEEN.name]}, [UNSEEN]) == plain
    assert choose([ONE, OTHER], "collectives", 2, NOBODY, {last.name: [SEEN.name]}, [SEEN])[0] == last


def test_a_mutant_of_a_public_report_is_a_goal_whatever_its_name() -> None:
    assert mutant(UNSEEN.name, public=True).half == "public"


def test_claims_that_allow_little_have_cases_of_their_own() -> None:
    many = [candidate(f"float {number}", *"abcdefgh"[: number + 1], dtype="float32") for number in range(6)]
    few = msgspec.structs.replace(candidate("int", "a"), seconds=9.0)
    aims = Aims({"narrow": {"permute": {"dtype": ["int32"]}}}, {})
    assert few not in choose([*many, few], "collectives", 4, NOBODY)
    assert few in choose([*many, few], "collectives", 4, aims)


def test_more_than_there_is_room_for_is_not_demanded_in_silence() -> None:
    with pytest.raises(CampaignError, match="3 cases of collectives are demanded, and there is room for 2"):
        choose([candidate(str(number), "a") for number in range(5)], "collectives", 2, NOBODY)


def test_the_curve_counts_the_unseen_half_alone() -> None:
    kills = {"one": [UNSEEN.name], "other": [SEEN.name]}
    assert share([OTHER], kills, {UNSEEN.name}) == 0.0
    assert share([ONE, OTHER], kills, {UNSEEN.name}) == 1.0
    rows = curves("collectives", [ONE] * 25, [OTHER] * 25, kills, [UNSEEN, SEEN])
    assert rows == ["| collectives | 25 | 100% | 0% | 0% | 1 |"]


def test_the_curve_goes_between_two_lines_of_a_page_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- curve -->\nold\n<!-- end of curve -->\nafter\n")
    written_into(page, CURVE, ["| a |"])
    assert page.read_text() == "before\n<!-- curve -->\n\n| a |\n\n<!-- end of curve -->\nafter\n"
    page.write_text("no place")
    with pytest.raises(CampaignError, match="no place for the table curve"):
        written_into(page, CURVE, ["| a |"])
    assert page.read_text() == "no place"


def test_what_ships_is_what_was_chosen_with_its_kills(tmp_path: Path) -> None:
    source = next(
        each for each in drawn([3], 3, ["collectives"]) if each.suite == "collectives" and each.op == "permute"
    )
    campaign(tmp_path, [source], lambda line: None)
    made = kept(tmp_path / f"{source.name}.zlib", list[Candidate])
    kills = {made[0].name: (UNSEEN.name,)}
    freeze(tmp_path, "here", made, made, kills, [UNSEEN, SEEN])
    deck, dead = read_deck(tmp_path / "deck.jsonl.gz"), read_kills(tmp_path / "kills.json.gz")
    assert [one.name for one in deck.cases] == dead.cases == [each.name for each in made]
    assert deck.digest == dead.digest
    assert [each.name for each in dead.mutants] == [UNSEEN.name]
    claims = made[0].features
    assert power(claims, {made[0].name}, dead).unseen.seen == 1
    assert power(claims, (), dead).unseen.seen == 0
    assert power({"barrier": {}}, {made[0].name}, dead).outside == 1


def test_a_deck_of_more_cases_than_it_may_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CampaignError, match="2001 cases were chosen; a deck has 2000 at most"):
        freeze(tmp_path, "here", [ONE] * 2001, [], {}, [])
    assert list(tmp_path.iterdir()) == []


def test_another_deck_is_for_a_top_up_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A choice that left the cases of the other deck out without a word would be taken for one that has them."""
    assert main(["shortlist", str(tmp_path), "--beside", str(tmp_path / "other")]) == 2
    assert "only the step topup takes it, not shortlist" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
