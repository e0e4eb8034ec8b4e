"""Green means shown: what was only refused, or had no element, certifies nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Conformance

SOURCE = """
from conformance.backends.base import Backend
import numpy as np

class Shy(Backend):
    name = "shy"
    claims = CLAIMS

    def describe(self):
        return {}

    def broadcast(self, blocks, *, root, groups):
        BODY

    def permute(self, blocks, *, pairs, groups):
        raise ValueError("no")
"""

RAISES = "raise ValueError('no')"
RIGHT = """
        if not all(0 <= root < len(group) for group in groups):
            raise ValueError('no such root')
        if sorted(rank for group in groups for rank in group) != list(range(len(blocks))):
            raise ValueError('no such groups')
        found = list(blocks)
        for group in groups:
            for rank in group:
                found[rank] = blocks[group[root]].copy()
        return found
"""


def judged(
    conformance: Conformance, claims: Any, body: str, *more: object, ops: str = "broadcast", examples: int = 40
) -> Any:
    Path("shy.py").write_text(SOURCE.replace("CLAIMS", repr(claims)).replace("BODY", body.strip()))
    where = ("-o", "out", "--in-process", "--suite", "collectives", "--op", ops, "--examples", examples)
    return conformance("run", "-b", "shy:Shy", *where, *more)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "shy", raising=False)


@pytest.mark.parametrize(
    ("claims", "body"),
    [
        ({"broadcast": {"calls": ["illegal"]}}, RAISES),
        ({"broadcast": {"dtype": []}}, RAISES),
        ({"broadcast": {"size": ["empty"]}}, RIGHT),
        ({"broadcast": {"axes": ["none"]}}, RAISES),
        ({"broadcast": {"operands": ["none"]}}, RAISES),
    ],
    ids=["illegal calls", "no dtype", "no element", "over no axis", "no operand"],
)
def test_who_shows_no_value_is_not_certified(conformance: Conformance, claims: Any, body: str) -> None:
    ended = judged(conformance, claims, body)
    badge = Path("out/badge-shy-shy.svg").read_text()
    assert ended.status == 3, ended.out
    assert "inconclusive: nothing is certified by this run" in ended.out
    assert " of " not in badge.partition("<title>")[2].partition("</title>")[0]


def test_one_operation_that_shows_nothing_beside_one_that_does_is_named(conformance: Conformance) -> None:
    claims = {"broadcast": {"calls": ["legal"]}, "permute": {"calls": ["illegal"]}}
    ended = judged(conformance, claims, RIGHT, ops="broadcast,permute", examples=60)
    assert ended.status == 3
    assert "no legal case of permute passed with a value" in ended.out
    assert "broadcast" not in ended.out.partition("no legal case of ")[2].partition(" passed")[0]


def test_a_clause_of_illegal_calls_is_left_out_by_claims_of_legal_ones_however_few_are_drawn(
    conformance: Conformance,
) -> None:
    ended = judged(conformance, {"broadcast": {"calls": ["legal"]}}, RIGHT, examples=30)
    assert "no case about broadcast.C3" not in ended.out
    assert ended.status == 0, ended.out


def test_a_clause_that_claims_cover_and_no_case_was_drawn_of_is_said_to_want_more_draws(
    conformance: Conformance,
) -> None:
    ended = judged(conformance, {"broadcast": {}}, RIGHT, examples=5)
    assert ended.status == 3
    assert "no case about broadcast.C3" in ended.out.replace("broadcast.C2, broadcast.C3", "broadcast.C3")
    assert "whose cases its claims do not leave out" not in ended.out
