"""Illegal arguments are refused by name before anything moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conformance.backends.opencl.graph import rejections as no
from conformance.backends.opencl.runtime.session import Session
from conformance.cases.tensor.dtypes import NUMPY

ALL = ((0, 1, 2, 3),)
GATHER = {"axis": 0, "tiled": True}
SCATTER = {"op": "sum", "axis": 0, "tiled": True}
SWAP = {"split_axis": 0, "concat_axis": 0, "tiled": True}

EVEN, ODD, ONES = ((2,) * 4,) * 4, ((2, 2, 2, 3),) * 4, ((1,) * 4,) * 4


@pytest.mark.parametrize(
    ("op", "attrs", "groups", "error", "says"),
    [
        ("all_sum", {}, ALL, no.UnknownOperationError, "known are all_gather"),
        ("all_reduce", {"op": "median"}, ALL, no.UnknownReductionError, "known are sum"),
        ("all_reduce", {"op": "xor"}, ALL, no.ReductionUndefinedError, "for bool and integers"),
        ("arg_reduce", {"op": "sum"}, ALL, no.UnknownReductionError, "only max and min have a position"),
        ("all_reduce", {"op": "sum", "local_axes": (2,)}, ALL, no.AxisOutOfRangeError, r"local axis 2 is outside"),
        ("all_reduce", {"op": "sum", "local_axes": (0, -2)}, ALL, no.AxisRepeatedError, "name one axis twice"),
        ("all_reduce", {}, ALL, no.WrongAttributesError, r"takes the attributes \['factor', 'local_axes', 'op'\]"),
        ("reduce", {"op": "sum", "root": 4}, ALL, no.PositionOutOfRangeError, "0 to 3 are"),
        ("gather", {**GATHER, "root": -1}, ALL, no.PositionOutOfRangeError, "root -1"),
        ("gather", {**GATHER, "root": 0, "axis": 2}, ALL, no.AxisOutOfRangeError, "axis 2"),
        ("scatter", {**GATHER, "root": 7}, ALL, no.PositionOutOfRangeError, "root 7"),
        ("scatter", {**GATHER, "root": 0, "axis": 1}, ALL, no.ExtentIndivisibleError, "extent 3 of axis 1"),
        ("shuffle", {"sources": (0, 1, 1, 2)}, ALL, no.NotPermutationError, "each of the 4 positions once"),
        ("shuffle", {"sources": ((0, 1),)}, ALL, no.WrongAttributesError, "sources must be tuple"),
        ("send", {"pairs": ((0, 1, 2),)}, ALL, no.WrongAttributesError, r"a pair is \(source, destination\)"),
        ("all_to_all_uneven", {"sends": ((8,),), "receives": ((8,),)}, ALL, no.SplitSizesError, "4 rows of 4 counts"),
        ("all_to_all_uneven", {"sends": EVEN, "receives": ODD}, ALL, no.SplitSizesError, "receives must be"),
        ("all_to_all_uneven", {"sends": ONES, "receives": ONES}, ALL, no.SplitSizesError, "add up to the rows"),
        ("recv", {"pairs": (), "shape": (8, 3), "dtype": "float32"}, ALL, no.WrongValueError, "token of a send"),
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


@pytest.mark.parametrize(
    ("dtype", "op", "says"),
    [
        ("complex64", "max", "no order"),
        ("complex128", "and", "for bool and integers"),
        ("bool", "premul_sum", "only floats and complex numbers"),
        ("int4", "premul_sum", "only floats and complex numbers"),
    ],
)
def test_reductions_that_a_dtype_has_not(dtype: str, op: str, says: str, opencl: Any, make_case: Any) -> None:
    seen = opencl().execute(make_case("all_reduce", [np.zeros(2, NUMPY[dtype])] * 2, op=op))
    assert (seen.errors[0].kind, seen.results) == ("ReductionUndefinedError", {})
    assert says in seen.errors[0].message


@pytest.mark.parametrize(
    ("axes", "error"), [(("i", "k"), "MeshAxisUnknownError"), (("i", "j", "i"), "MeshAxisRepeatedError")]
)
@pytest.mark.parametrize("op", ["barrier", "axis_index", "all_reduce"])
def test_mesh_axes_must_be_there_and_named_once(op: str, axes: Any, error: str, opencl: Any, make_program: Any) -> None:
    names = (("x",), ("y",)) if op == "all_reduce" else ((), ("y",) if op == "axis_index" else ())
    attrs = {"axes": axes, **({"op": "sum"} if op == "all_reduce" else {})}
    case = make_program({"i": 2, "j": 1}, {"x": [np.ones(2)] * 2}, [(op, *names, attrs)], ())
    assert opencl().execute(case).errors[0].kind == error


@pytest.mark.parametrize("op", ["barrier", "axis_index", "axis_size", "reduce_constant"])
def test_groups_that_leave_the_last_rank_out_are_refused(op: str, opencl: Any, make_program: Any) -> None:
    attrs = {"groups": ((0, 1), (2,)), **({"value": 1} if op == "reduce_constant" else {})}
    case = make_program({"i": 4}, {}, [(op, (), () if op == "barrier" else ("y",), attrs)], ())
    assert opencl().execute(case).errors[0].kind == "GroupsNotPartitionError"
