"""What the deck has to have: each clause thrice, for whoever claims it, and legal cases of each operation."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from conformance.qualification.deck.candidate import Candidate
from conformance.qualification.deck.demands import cover, demands, is_legal, lacking
from conformance.qualification.deck.profiles import MINIMAL, PLAIN, numbers_within, simple_claims
from conformance.reference.operations import OPERATIONS


def candidate(
    name: str, *, clause: str = "permute.C1", op: str = "permute", legal: str = "yes", **words: str
) -> Candidate:
    features: Mapping[str, list[str]] = {feature: [word] for feature, word in ({"dtype": "int32"} | words).items()}
    return Candidate(
        name=name,
        family="collectives",
        suite="collectives",
        op="permute",
        origin="small call of permute, number 1",
        form="program",
        seconds=0.001,
        features={"permute": dict(features)},
        parts=[(["permute.C1"], [f"legal={legal}"])],
        text=b"{}",
    )


def chosen(*candidates: Candidate, published: Mapping[str, object] | None = None) -> set[str]:
    asked = demands(candidates, published or {}, simple_claims())  # type: ignore[arg-type]
    return {candidates[number].name for number in cover(asked, candidates)}


def test_each_clause_has_three_cases_as_far_as_there_are_so_many() -> None:
    assert len(chosen(*(candidate(str(number)) for number in range(5)))) == 3
    assert len(chosen(*(candidate(str(number)) for number in range(2)))) == 2


def test_a_clause_of_illegal_calls_alone_does_not_stand_for_the_operation() -> None:
    refused = [candidate(f"refused {number}", legal="no") for number in range(5)]
    legal = [candidate(f"legal {number}") for number in range(5)]
    assert len({name for name in chosen(*refused, *legal) if name.startswith("legal")}) == 3


def test_a_case_on_nothing_is_no_legal_case_of_an_operation() -> None:
    empty = [candidate(f"empty {number}", size="empty") for number in range(5)]
    full = [candidate(f"full {number}", size="many") for number in range(5)]
    assert len({name for name in chosen(*empty, *full) if name.startswith("full")}) == 3


def test_whoever_claims_little_has_two_cases_of_a_clause() -> None:
    wide = [candidate(f"wide {number}", world="9") for number in range(9)]
    narrow = [candidate(f"narrow {number}", world="7") for number in range(9)]
    claims = {"acme": {"permute": {"world": ["7"]}}}
    assert len({name for name in chosen(*wide, *narrow, published=claims) if name.startswith("narrow")}) == 2


def test_the_plainest_claims_have_legal_cases_on_each_dtype() -> None:
    plain = {"layout": "contiguous", "world": "2"}
    ints = [candidate(f"int32 {number}", **plain) for number in range(9)]
    floats = [candidate(f"float32 {number}", **plain, dtype="float32") for number in range(9)]
    found = chosen(*ints, *floats)
    assert len({name for name in found if name.startswith("float32")}) >= 2
    assert len({name for name in found if name.startswith("int32")}) >= 2


def test_what_is_lacking_is_told_in_words() -> None:
    several = [candidate(str(number)) for number in range(4)]
    asked = demands(several, {}, {})
    assert lacking(asked, several, several) == []
    assert lacking(asked, several, several[:1])[0] == "1 of 3: case of permute.C1"


def test_every_operation_and_dialect_has_plain_claims() -> None:
    names = simple_claims()
    assert {f"plain {op}" for op in OPERATIONS} <= names.keys()
    assert {
        "plain graph",
        "plain sharded",
        "plain typed_program",
        "core",
        "README",
        "integers",
        "floats",
    } <= names.keys()
    assert names["plain permute"].claims["permute"] is PLAIN
    assert names["README"].claims is MINIMAL


def test_what_asks_nothing_of_the_operations_that_are_claimed_is_not_within_claims() -> None:
    assert numbers_within([candidate("a")], {"permute": {}}) == [0]
    assert numbers_within([candidate("a")], {"all_reduce": {}}) == []


def test_legal_and_refused_calls_are_told_apart() -> None:
    assert is_legal(candidate("a"))
    assert not is_legal(candidate("a", legal="no"))


def test_every_decisive_case_is_to_be_there() -> None:
    several = [replace(candidate(str(number)), origin=f"decisive fold, number {number}") for number in range(5)]
    assert len(chosen(*several, *(candidate(f"other {number}") for number in range(3)))) == 5
