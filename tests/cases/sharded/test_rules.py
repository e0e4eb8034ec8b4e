"""The rules of placement of ``tinygrad.multi``, by its own examples."""

from __future__ import annotations

import itertools

import pytest

from conformance.cases.graph.graph import Node
from conformance.cases.program.program import Axis
from conformance.cases.sharded.placement import REPLICATED, Placement, Split
from conformance.cases.sharded.rules import Unmovable, rule


def cut(axis: int, *widths: int, real: tuple[bool, ...] = ()) -> Placement:
    split = Split(axis=axis, along=("i",), cuts=(0, *itertools.accumulate(widths)))
    return Placement(splits=(split,), masks={"i": real} if real else {})


def done(
    op: str,
    at: Placement,
    old: tuple[int, ...],
    new: tuple[int, ...],
    arg: object = None,
    *more: Placement,
    **rest: str,
) -> Placement:
    kept = {"shape": new, "dtype": "float32", "device": "d0", "arg": arg, **rest}
    node = Node(id="x", op=op, of=("a",), **kept)  # type: ignore[arg-type]  # fields of a node
    mesh = (Axis("i", len(at.splits[0].cuts) - 1 if at.splits else 2),)
    return rule(node, [old] * (1 + len(more)), ["float32"] * (1 + len(more)), [at, *more], mesh).result


PENDING = Placement(partial={"i": "add"})


@pytest.mark.parametrize(
    ("op", "dtypes", "dtype", "kept"),
    [
        ("add", ["int32", "int32"], "int32", True),
        ("add", ["bool", "bool"], "bool", True),
        ("add", ["bool", "int32"], "int32", False),
        ("add", ["int8", "int32"], "int32", False),
        ("neg", ["int32"], "int32", True),
        ("neg", ["bool"], "bool", False),
        ("exp2", ["float32"], "float32", False),
    ],
)
def test_only_sums_of_pending_sums_of_one_dtype_stay_pending(
    op: str, dtypes: list[str], dtype: str, *, kept: bool
) -> None:
    node = Node(id="x", op="alu", of=("a", "b")[: len(dtypes)], shape=(), dtype=dtype, device="d0", arg=op)
    found = rule(node, [()] * len(dtypes), dtypes, [PENDING] * len(dtypes), (Axis("i", 2),))
    assert bool(found.result.partial) == kept


OLD = (26, 15, 7)
AT = cut(1, 5, 5, 5)


@pytest.mark.parametrize(
    ("new", "axis"),
    [((26, 3, 5, 7), 1), ((26, 3, 35), 1), ((26, 105), 1), ((2, 13, 3, 5, 7), 2), ((1, 13, 2, 3, 1, 7, 5), 3)],
)
def test_a_reshape_splits_the_last_axis_with_as_many_elements_before_it(new: tuple[int, ...], axis: int) -> None:
    assert done("reshape", AT, OLD, new).splits[0].axis == axis


@pytest.mark.parametrize(
    ("at", "old", "new"),
    [
        (AT, OLD, (390, 7)),
        (cut(1, 2, 2), (5, 4), (10, 2)),
        (cut(0, 8, 8, 8, 8), (32,), (2, 16)),
        (cut(0, 3, 1), (4,), (2, 2)),
    ],
)
def test_a_reshape_that_cuts_a_part_is_refused(at: Placement, old: tuple[int, ...], new: tuple[int, ...]) -> None:
    with pytest.raises(Unmovable):
        done("reshape", at, old, new)


def test_uneven_bounds_go_through_a_reshape() -> None:
    assert done("reshape", cut(0, 2, 2, 10, 2), (16, 3), (8, 6)) == cut(0, 1, 1, 5, 1)
    assert done("reshape", cut(0, 2, 2, 12, 0), (16,), (8, 2)) == cut(0, 1, 1, 6, 0)


def test_the_last_operand_that_is_split_says_where() -> None:
    one, other = cut(0, 1, 3), cut(1, 2, 2)
    for given, right in (((one, other), other), ((other, one), one), ((one, REPLICATED), one)):
        assert done("alu", given[0], (4, 4), (4, 4), "add", given[1]) == right


def test_operands_of_masked_parts_have_the_real_part_in_common_or_are_refused() -> None:
    first, second = cut(0, 2, 2, real=(True, False)), cut(0, 2, 2, real=(False, True))
    assert done("alu", first, (2,), (2,), "add", REPLICATED) == first
    with pytest.raises(Unmovable, match="no real part in common"):
        done("alu", first, (2,), (2,), "add", second)


def test_one_part_is_a_mask_and_comes_back_by_the_pad_to_the_whole() -> None:
    whole = cut(0, 2, 1, 2)
    part = done("shrink", whole, (5, 2), (1, 2), ((2, 3), (0, 2)))
    assert part == cut(0, 2, 1, 2, real=(False, True, False))
    assert done("pad", part, (1, 2), (5, 2), ((2, 2), (0, 0))) == whole
    for arg, shape in ((((1, 2), (0, 0)), (4, 2)), (((2, 2), (0, 1)), (5, 3))):
        with pytest.raises(Unmovable):
            done("pad", part, (1, 2), shape, arg)
    with pytest.raises(Unmovable):
        done("shrink", whole, (5, 2), (2, 2), ((1, 3), (0, 2)))


def test_a_fold_of_the_split_axis_is_replicated_and_of_one_real_part_stays_there() -> None:
    assert done("reduce", cut(0, 2, 1), (3, 2), (2,), (0,), fold="add") == REPLICATED
    masked = cut(0, 2, 1, real=(False, True))
    assert done("reduce", masked, (1, 2), (2,), (0,), fold="max") == Placement(masks={"i": (False, True)})
    assert done("reduce", cut(1, 2, 1), (3, 3), (3,), (0,), fold="add") == cut(0, 2, 1)


@pytest.mark.parametrize(("op", "arg"), [("stride", (-1, 1)), ("stride", (2, 1)), ("flip", (0,))])
def test_steps_along_the_split_axis_are_refused(op: str, arg: tuple[int, ...]) -> None:
    with pytest.raises(Unmovable):
        done(op, cut(0, 2, 2), (4, 3), (4, 3), arg)
    assert done(op, cut(1, 2, 1), (4, 3), (4, 3), arg) == cut(1, 2, 1)
