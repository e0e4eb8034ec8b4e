"""The table of operations: a row is read off the meaning of its operation, and must not contradict it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.cases.program.operations import RowError, described
from conformance.reference.operations import OPERATIONS, TABLE


def test_every_operation_has_a_row() -> None:
    assert set(TABLE) == set(OPERATIONS)


def fold(blocks: list[Any], *, op: str, groups: Any) -> list[Any]:
    raise NotImplementedError


def ask(*, groups: Any) -> list[Any]:
    raise NotImplementedError


def to_root(blocks: list[Any], *, root: int, groups: Any) -> list[Any | None]:
    raise NotImplementedError


def lonely(blocks: list[Any], *, op: str) -> list[Any]:
    raise NotImplementedError


@pytest.mark.parametrize(
    ("function", "does", "more", "said"),
    [
        (fold, "reduce", {"readers": "root"}, "its row speaks of a root, and it has no attribute root"),
        (fold, "query", {}, "it asks and takes a block"),
        (fold, "exchange", {"readers": "sources"}, "its row speaks of sources, and it has no attribute pairs"),
        (fold, "reduce", {"over": 1}, "it takes 1 operands, and its row says that it writes over number 1"),
        (fold, "reduce", {"over": -1}, "it takes 1 operands, and its row says that it writes over number -1"),
        (fold, "reduce", {"writers": "nobody"}, "it gives a block, and by its row nobody writes one"),
        (ask, "reduce", {"readers": "nobody"}, "it reduces without an attribute op"),
        (ask, "query", {}, "it takes no block, and its row says who reads one"),
        (to_root, "gather", {}, "it gives some ranks no block, and its row does not say that only a root has one"),
        (lonely, "reduce", {}, "it takes no groups"),
    ],
)
def test_a_row_that_contradicts_its_function_is_refused(function: Any, does: Any, more: Any, said: str) -> None:
    with pytest.raises(RowError, match=f"the row of {function.__name__} contradicts its reference function: {said}"):
        described(function, does, **more)


@pytest.mark.parametrize(
    ("does", "more", "said"),
    [
        ("reduce", {"operands": 2}, "has a field operands, and may say does, readers, writers, groups, sized"),
        ("reduce", {"groop": "any"}, "has a field groop, and may say does, readers"),
        ("redcue", {}, "Invalid enum value 'redcue'"),
        ("reduce", {"groups": "some"}, "Invalid enum value 'some'"),
    ],
)
def test_a_field_that_is_none_of_a_row_and_a_word_that_is_none_of_its_field_are_refused(
    does: Any, more: Any, said: str
) -> None:
    with pytest.raises(RowError, match=f"the row of fold:? {said}"):
        described(fold, does, **more)
