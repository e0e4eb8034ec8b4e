"""Every backend gets the same cases first, and then as many of its own as make up its share within its claims."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.case import case_id
from conformance.generate.choices import NOTHING
from conformance.generate.claims import allowed, narrowed
from conformance.generate.suites import DOMAINS
from conformance.runner.dialects import dialects
from conformance.runner.dialects.spmd import FEATURES
from conformance.runner.dialects.types import facts
from conformance.runner.draws import numbered
from conformance.runner.explore import explore
from conformance.runner.meaning import meaning
from conformance.runner.plan import Plan
from conformance.runner.records.record import CaseRecord
from conformance.runner.worker.in_process import InProcess

NARROW: dict[str, dict[str, list[str]]] = {
    "broadcast": {"dtype": ["bfloat16"], "world": ["4"], "layout": ["flipped"], "operands": ["one"]}
}


class Narrow(Reference):
    @property
    def claims(self) -> Mapping[str, Mapping[str, list[str]]]:
        return NARROW


def test_a_narrow_backend_gets_its_share_and_a_broad_one_beside_it_no_other_cases(
    tmp_path: Path,
) -> None:
    seen: list[CaseRecord] = []

    def watch(record: Any) -> None:
        if isinstance(record, CaseRecord):
            seen.append(record)

    plan = Plan(ops=("broadcast",), examples=90, suites=("collectives",))
    workers = {
        name: InProcess(BackendSpec(name, ()), backend=backend())
        for name, backend in (("broad", Reference), ("narrow", Narrow))
    }
    explore(plan, workers, tmp_path, watch=watch)
    cases = {name: [r.case for r in seen if r.backend == name] for name in ("broad", "narrow")}
    judged = [r for r in seen if r.backend == "narrow" and r.outcome == "passed"]
    common = set(cases["broad"])
    assert all(len(set(names)) == len(names) for names in cases.values())
    assert common < set(cases["narrow"])
    assert len(judged) >= len(common) / 3
    own = set(cases["narrow"]) - common
    outside = [r for r in seen if r.case in own and r.outcome == "unsupported"]
    assert len(outside) < len(own) / 3


class Slow(Reference):
    examples = 20


@pytest.mark.parametrize(("examples", "most"), [(300, 20), (30, 30)])
def test_a_slow_backend_is_asked_the_first_of_the_draws_unless_a_number_is_named(
    tmp_path: Path, examples: int, most: int
) -> None:
    seen: list[Any] = []
    plan = Plan(ops=("broadcast",), examples=examples, suites=("collectives",))
    explore(plan, {"slow": InProcess(BackendSpec("slow", ()), backend=Slow())}, tmp_path, watch=seen.append)
    asked = [record.case for record in seen if isinstance(record, CaseRecord)]
    assert len(asked) == len(set(asked)) > most / 2
    domain = DOMAINS["collectives"]["broadcast"]
    assert set(asked) <= {case_id(numbered(domain, 0, at)[0]) for at in range(most)}


def test_draws_for_claims_lie_within_them_far_more_often() -> None:
    domain, words = DOMAINS["collectives"]["broadcast"], NARROW["broadcast"]

    def within(limits: Mapping[str, list[str]] | None) -> int:
        found = (meaning(numbered(domain, 0, at, limits)[0]).features.words for at in range(100, 400))
        return sum(all(each.get(name, set()) <= set(some) for name, some in words.items()) for each in found)

    assert within(words) > 20 * max(within(None), 1) or within(words) > 60


def test_programs_on_types_for_claims_lie_within_them_far_more_often() -> None:
    domain = dialects()["types"].suites["transforms"].domains["batched_program"]
    words = {
        "steps": ["all_gather", "shuffle", "negate"],
        "tiled": ["true", "none"],
        "checks": ["on"],
        "across": ["mesh"],
    }

    def within(limits: Mapping[str, list[str]] | None) -> int:
        drawn = (dialects()["types"].mean(numbered(domain, 0, at, limits)[0]) for at in range(100, 200))
        found = (facts(each).features["batched_program"] for each in drawn if each is not None)
        return sum(all(each[name] <= set(some) for name, some in words.items()) for each in found)

    assert within(words) > 60
    assert within(None) < 20


def test_goals_are_words_that_claims_allow() -> None:
    goals, left = narrowed(NARROW["broadcast"], "a", 1).levels, allowed(NARROW["broadcast"])
    assert {"dtype", "world", "operands", "place", "start", "view"} <= goals.keys()
    assert all(goals[factor] in levels for factor, levels in left.items() if levels)
    assert narrowed({"calls": ["legal"]}, "a", 1).levels["wrong"] == NOTHING


def test_claimed_words_are_dealt_so_that_each_comes_before_one_comes_again() -> None:
    limits = {"dtype": ["int32", "int64", "float32", "bool"]}
    dealt = [narrowed(limits, "a", number).levels["dtype"] for number in range(40, 48)]
    assert sorted(dealt[:4]) == sorted(dealt[4:]) == sorted(limits["dtype"])


@pytest.mark.parametrize("feature", sorted(FEATURES))
def test_any_claim_may_be_drawn_for(feature: str) -> None:
    words = FEATURES[feature] or ("1", "4")
    found = allowed({feature: list(words)})
    assert all(isinstance(word, str) for each in found.values() for word in each)
