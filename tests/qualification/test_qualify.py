"""The suite kills every mutant by the clause it was made for, and counts nothing else as a kill."""

from __future__ import annotations

import statistics
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest

from conformance.backends.base import Backend
from conformance.backends.reference import Reference
from conformance.qualification import qualify as module
from conformance.qualification.changed_methods import operations_of
from conformance.qualification.mutant_module import MutantError, load_mutants
from conformance.qualification.mutants import mutants
from conformance.qualification.mutants.broadcast import BroadcastTakesAWorldRank, BroadcastWrapsTheRoot
from conformance.qualification.mutants.collective import LastRankIsMissing
from conformance.qualification.mutants.send_recv import SendTakesWorldRanks
from conformance.qualification.qualify import Qualification, qualify
from conformance.reference.operations.broadcast import broadcast

GOOD = "from conformance.backends.reference import Reference\nclass Bad(Reference):\n    breaks = 'collective.C1'\n"


class Slips(Reference):
    """Means to read the wrong root and has a typing error."""

    breaks = "broadcast.C2"

    def broadcast(self, blocks, *, root, groups):  # noqa: ANN001, ANN201 - as a vendor writes it
        return broadcast(blocks, root=root, groups=groups) + undefined_name  # noqa: F821 - the defect


class WrongClause(Reference):
    """Breaks another clause than it says."""

    breaks = "broadcast.C3"

    def broadcast(self, blocks, *, root, groups):  # noqa: ANN001, ANN201 - as a vendor writes it
        return [np.zeros_like(block) for block in broadcast(blocks, root=root, groups=groups)]


class DoesNothing(Reference):
    """Overrides an operation with itself."""

    def broadcast(self, blocks, *, root, groups):  # noqa: ANN001, ANN201 - as a vendor writes it
        return broadcast(blocks, root=root, groups=groups)


class OverridesNothing(Reference):
    """Only says that it is broken."""

    breaks = "broadcast.C1"


class UnknownClause(DoesNothing):
    """Names no clause."""

    breaks = "broadcast.C99"


class NarrowClaims(Backend):
    """A backend with a gap in what it supports, which is no defect, and no clause named."""

    claims = {"broadcast": {"dtype": ["int32"]}}  # noqa: RUF012 - as a vendor writes it

    def broadcast(self, blocks, *, root, groups):  # noqa: ANN001, ANN201 - as a vendor writes it
        if blocks[0].dtype != np.int32:
            raise NotImplementedError("int32 only")
        return broadcast(blocks, root=root, groups=groups)


PARTS = 8
"""Tests that all mutants are dealt to, so that two processes share them."""


@cache
def by_operations() -> tuple[type[Backend], ...]:
    every = mutants()
    return tuple(sorted(every, key=lambda mutant: operations_of(mutant, every)))


def part_of(part: int, parts: int = PARTS) -> tuple[type[Backend], ...]:
    """Return a part of the mutants; those that change the same operations see the same cases, and stay together."""
    listed = by_operations()
    return listed[len(listed) * part // parts : len(listed) * (part + 1) // parts]


def test_the_parts_are_all_mutants() -> None:
    assert {mutant for part in range(PARTS) for mutant in part_of(part)} == set(mutants())


# Some that move and some that reduce are killed every day; all, on three seeds, at night.
EVERY_DAY = [pytest.param(0, part_of(18, 24), id="moving"), pytest.param(0, part_of(4)[::3], id="reducing")]
AT_NIGHT = [
    pytest.param(seed, part_of(part), id=f"{seed}-{part}", marks=pytest.mark.slow)
    for seed in range(3)
    for part in range(PARTS)
]


@pytest.mark.parametrize(("seed", "wanted"), [*EVERY_DAY, *AT_NIGHT])
def test_every_mutant_is_killed_by_the_clause_it_was_made_for(seed: int, wanted: tuple[type[Backend], ...]) -> None:
    found = qualify(wanted, seed=seed)
    assert found.survivors == ()
    assert all(mutant.killed and mutant.breaks in mutant.clauses for mutant in found.mutants)
    assert statistics.median(mutant.cases for mutant in found.mutants) < 50
    assert max(mutant.cases for mutant in found.mutants) < 3000


def test_a_mutant_may_say_which_operations_show_it() -> None:
    (mutant,) = qualify([SendTakesWorldRanks], examples=60).mutants
    assert "recv.C1" in mutant.clauses
    assert mutant.exact  # recv.C1 is of messages alone


def test_results_are_plain_and_come_one_by_one() -> None:
    seen: list[str] = []
    found = qualify([BroadcastWrapsTheRoot], examples=60, watch=lambda mutant: seen.append(mutant.name))
    (mutant,) = msgspec.json.decode(msgspec.json.encode(found), type=Qualification).mutants
    assert (mutant.name, mutant.clause, mutant.clauses) == ("BroadcastWrapsTheRoot", "broadcast.C3", ("broadcast.C3",))
    assert mutant.doc.startswith("A tree algorithm")
    assert seen == ["BroadcastWrapsTheRoot"]


def test_a_process_of_its_own_sees_the_same() -> None:
    wanted = [BroadcastTakesAWorldRank, LastRankIsMissing]
    inside, outside = (qualify(wanted, examples=20, in_process=here) for here in (True, False))
    assert [(m.name, m.clause, m.cases) for m in inside.mutants] == [
        (m.name, m.clause, m.cases) for m in outside.mutants
    ]


@pytest.mark.parametrize("mutant", [Slips, WrongClause])
def test_a_failure_for_another_reason_is_no_kill(mutant: type[Backend]) -> None:
    found = qualify([mutant], examples=60)
    assert found.survivors == (mutant.__name__,)
    assert found.mutants[0].clause is not None


@pytest.mark.parametrize("mutant", [DoesNothing, OverridesNothing, NarrowClaims])
def test_what_changes_nothing_is_told_and_judged_no_further(mutant: type[Backend]) -> None:
    found = qualify([mutant, BroadcastWrapsTheRoot], examples=60)
    assert found.problems == (mutant.__name__,)
    problem = next(row.problem for row in found.mutants if row.problem)
    assert any(words in problem for words in ("not reached", "changes nothing", "claims none"))


def test_an_unknown_clause_is_told_and_an_empty_list_is_an_error() -> None:
    (row,) = qualify([UnknownClause], examples=30).mutants
    assert "UnknownClause is to break 'broadcast.C99', which is no clause" in row.problem
    with pytest.raises(MutantError, match="no mutants"):
        qualify([])


def test_a_family_whose_control_fails_is_void(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "unchanged", lambda *_: BroadcastTakesAWorldRank)
    found = qualify([DoesNothing], examples=60)
    assert "the unchanged BroadcastTakesAWorldRank fails" in found.mutants[0].problem


def test_mutants_come_from_a_file_or_a_module_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", list(__import__("sys").path))
    (tmp_path / "their_file.py").write_text(GOOD + "    def execute(self, case):\n        1 / 0\n")
    (tmp_path / "their_module.py").write_text(GOOD)
    (mutant,) = load_mutants(str(tmp_path / "their_file.py"))
    assert load_mutants(str(tmp_path / "their_file.py")) == (mutant,)
    monkeypatch.chdir(tmp_path)
    assert [found.__name__ for found in load_mutants("their_module")] == ["Bad"]
    (found,) = qualify([mutant], examples=20, ops=("broadcast",), in_process=False).mutants
    assert found.clause is not None


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("raises_here.py", "1 / 0", "does not import: ZeroDivisionError: division by zero"),
        ("exits_here.py", "raise SystemExit(0)", "does not import: SystemExit: 0"),
        ("mistyped_here.py", "class :", "does not import: SyntaxError"),
        ("empty_here.py", "", "defines no backend"),
        ("two-words.py", GOOD, "must have the name of a module"),
        ("json.py", GOOD, "has the name of another module"),
        ("missing.py", None, "no mutants file"),
    ],
)
def test_a_bad_file_gives_one_clear_line(tmp_path: Path, name: str, text: str | None, problem: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(MutantError, match=problem) as raised:
        load_mutants(str(tmp_path / name))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("no_such_module_at_all", "no mutants module"),
        ("conformance.no_such_module", "does not import: ModuleNotFoundError"),
        ("not a module", "names no mutants"),
    ],
)
def test_a_bad_module_gives_one_clear_line(name: str, problem: str) -> None:
    with pytest.raises(MutantError, match=problem):
        load_mutants(name)
