"""Illegal arguments are refused by name before anything moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl import rejections as no
from conformance.backends.opencl.runtime.session import Session

ALL = ((0, 1, 2, 3),)
GATHER = {"axis": 0, "tiled": True}
SCATTER = {"op": "sum", "axis": 0, "tiled": True}
SWAP = {"split_axis": 0, "concat_axis": 0, "tiled": True}


@pytest.mark.parametrize(
    ("op", "attrs", "groups", "error", "says"),
    [
        ("all_sum", {}, ALL, no.UnknownOperationError, "known are all_gather"),
        ("all_reduce", {"op": "xor"}, ALL, no.UnknownReductionError, "known are sum"),
        ("all_reduce", {}, ALL, no.WrongAttributesError, r"takes the attributes \['op'\], got \[\]"),
        ("all_gather", {"axis": True, "tiled": True}, ALL, no.WrongAttributesError, "axis must be int, got True"),
        ("all_reduce", {"op": "sum"}, ((0, 1), (1, 2)), no.GroupsNotPartitionError, "4 ranks exactly once"),
        ("all_reduce", {"op": "sum"}, (*ALL, ()), no.GroupsNotPartitionError, "none of them empty"),
        ("all_gather", GATHER, ((0,), (1, 2, 3)), no.UnequalGroupsError, r"got sizes \[1, 3\]"),
        ("all_gather", {**GATHER, "axis": 2}, ALL, no.AxisOutOfRangeError, r"outside \[-2, 1\]"),
        ("all_gather", {"axis": -4, "tiled": False}, ALL, no.AxisOutOfRangeError, r"outside \[-3, 2\]"),
        ("reduce_scatter", {**SCATTER, "axis": 1}, ALL, no.ExtentIndivisibleError, "extent 3 of axis 1"),
        ("reduce_scatter", {**SCATTER, "tiled": False}, ALL, no.ExtentUnequalError, "must equal the group size 4"),
        ("all_to_all", {**SWAP, "split_axis": -3}, ALL, no.AxisOutOfRangeError, "split_axis -3"),
        ("all_to_all", {**SWAP, "concat_axis": 2}, ALL, no.AxisOutOfRangeError, "concat_axis 2"),
        ("permute", {"pairs": ((0, 4),)}, ALL, no.PositionOutOfRangeError, "positions are 0 to 3"),
        ("permute", {"pairs": ((-1, 0),)}, ALL, no.PositionOutOfRangeError, "positions are 0 to 3"),
        ("permute", {"pairs": ((0, 1), (0, 2))}, ALL, no.PositionRepeatedError, "name a source twice"),
        ("permute", {"pairs": ((0, 1), (2, 1))}, ALL, no.PositionRepeatedError, "name a destination twice"),
        ("broadcast", {"root": 1}, ((0,), (1, 2, 3)), no.PositionOutOfRangeError, "group of 1"),
    ],
)
def test_each_way_to_be_illegal_has_a_name(
    op: str, attrs: Any, groups: Any, error: type[Exception], says: str, opencl: Any, make_case: Any, session: Session
) -> None:
    case = make_case(op, [np.ones((8, 3), np.float32)] * 4, groups=groups, **attrs)
    seen = opencl().execute(case)
    assert [failed.kind for failed in seen.errors] == [error.__name__] * 4
    assert {failed.category for failed in seen.errors} == {"invalid_argument"}
    with pytest.raises(error, match=says):
        raise error(seen.errors[0].message)
    assert session.memory.live == 0


@pytest.mark.parametrize(("odd", "says"), [(np.ones(2, np.int32), "one dtype"), (np.ones(3, np.float32), "one shape")])
def test_ranks_must_agree_on_dtype_and_shape(odd: Any, says: str, opencl: Any, make_case: Any) -> None:
    seen = opencl().execute(make_case("all_reduce", [np.ones(2, np.float32), odd], op="max"))
    assert seen.errors[1].kind == "BlocksDifferError"
    assert says in seen.errors[1].message
