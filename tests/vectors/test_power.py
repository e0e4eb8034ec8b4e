"""What a run sees: of mutants within claims the share that it kills, and of those that nothing was chosen by."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.vectors.deck_error import DeckError
from conformance.vectors.power import DeckKills, MutantKills, least, power, read_kills, write_kills

KILLS = DeckKills(
    digest="",
    campaign=4,
    cases=["a", "b"],
    words=[("dtype", "int32"), ("dtype", "float32")],
    sets=[{"all_reduce": [0]}, {"all_reduce": [1]}, {"all_gather": [0]}],
    mutants=[
        MutantKills(name="M1", family="collectives", of="written", half="seen", kills=[0], needs=[0]),
        MutantKills(name="M2", family="collectives", of="written", half="unseen", kills=[1], needs=[1]),
        MutantKills(name="M3", family="collectives", of="written", half="unseen", kills=[], needs=[0]),
        MutantKills(name="M4", family="graphs", of="written", half="unseen", kills=[1], needs=[2]),
    ],
)


def test_mutants_outside_the_claims_do_not_count() -> None:
    found = power({"all_reduce": {"dtype": ["int32"]}}, {"a", "b"}, KILLS)
    assert (found.within.mutants, found.within.seen, found.outside) == (2, 1, 2)


def test_a_mutant_within_the_claims_counts_though_no_case_of_the_deck_kills_it() -> None:
    found = power({"all_reduce": {}}, {"a", "b"}, KILLS)
    assert (found.unseen.mutants, found.unseen.seen) == (2, 1)


def test_only_judged_cases_kill() -> None:
    assert power({"all_reduce": {}, "all_gather": {}}, {"b"}, KILLS).within.seen == 2
    assert power({"all_reduce": {}, "all_gather": {}}, (), KILLS).within.seen == 0


def test_few_mutants_have_their_count_beside_the_share() -> None:
    assert "50% (1 of 2)" in str(power({"all_reduce": {}}, {"a", "b"}, KILLS))


def test_claims_without_mutants_are_told() -> None:
    assert str(power({}, {"a"}, KILLS)) == "no mutant lies within these claims (4 lie outside)"


@pytest.mark.parametrize(("seen", "mutants", "bound"), [(0, 0, 0.0), (0, 10, 0.0), (10, 10, 0.787), (50, 100, 0.419)])
def test_the_bound_is_wilsons(seen: int, mutants: int, bound: float) -> None:
    assert least(seen, mutants) == pytest.approx(bound, abs=1e-3)


def test_kills_are_read_as_they_were_written(tmp_path: Path) -> None:
    write_kills(tmp_path / "kills", KILLS)
    assert read_kills(tmp_path / "kills") == KILLS
    (tmp_path / "kills").write_bytes(b"no")
    with pytest.raises(DeckError, match="are not to be read"):
        read_kills(tmp_path / "kills")
