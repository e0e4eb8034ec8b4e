"""Each operation on real Gloo ranks means what the reference says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import msgspec
import numpy as np
import pytest

from conformance.backends.torch import Torch, TorchFunctional
from conformance.cases.case import Case
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array
from conformance.reference.spmd import evaluate

Make = Callable[..., Case]

UNSORTED = ((2, 0), (1, 3))
TILED = {"axis": 0, "tiled": True}


def agrees(backend: Torch, asked: Case) -> None:
    seen = backend.execute(asked)
    assert seen.errors == ()
    for name, blocks in evaluate(asked).items():
        assert seen.results[name] == tuple(None if block is None else from_array(block) for block in blocks)
    assert seen.touched == ()


def program(asked: Case, *steps: Step, results: tuple[str, ...], mesh: tuple[Axis, ...] | None = None) -> Case:
    """Return the case with other steps, and perhaps another mesh."""
    made = Program(mesh=mesh or asked.program.mesh, steps=steps, results=results)
    return msgspec.structs.replace(asked, program=made)


@pytest.mark.parametrize("op", ["sum", "product", "max", "min"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32, np.float64, ml_dtypes.bfloat16])
def test_all_reduce_folds_every_dtype(torch: Torch, case: Make, op: str, dtype: type) -> None:
    agrees(torch, case("all_reduce", 2, op=op, dtype=dtype))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_all_gather_joins_at_any_axis(torch: Torch, case: Make, axis: int) -> None:
    if axis != 0:  # Gloo refuses the stacked form of all_gather_single.
        agrees(torch, case("all_gather", 3, shape=(2, 3), axis=axis, tiled=False))
    if axis not in (2, -3):
        agrees(torch, case("all_gather", 3, shape=(2, 3), axis=axis, tiled=True))


@pytest.mark.parametrize("axis", [0, 1, -2])
@pytest.mark.parametrize("op", ["sum", "max"])
def test_reduce_scatter_keeps_its_piece(torch: Torch, case: Make, axis: int, op: str) -> None:
    agrees(torch, case("reduce_scatter", 2, shape=(4, 6), op=op, axis=axis, tiled=True))
    if axis == 1:
        agrees(torch, case("reduce_scatter", 2, shape=(4, 2), op=op, axis=axis, tiled=False))


@pytest.mark.parametrize(("split", "concat"), [(0, 0), (0, 1), (1, 0), (-1, -2)])
@pytest.mark.parametrize("tiled", [True, False])
def test_all_to_all_splits_and_joins_anywhere(torch: Torch, case: Make, split: int, concat: int, tiled: bool) -> None:
    agrees(torch, case("all_to_all", 2, shape=(2, 2), split_axis=split, concat_axis=concat, tiled=tiled))


@pytest.mark.parametrize("pairs", [((0, 1), (1, 2), (2, 0)), ((2, 0),), ()])
def test_permute_moves_and_leaves_zeros(torch: Torch, case: Make, pairs: tuple[tuple[int, int], ...]) -> None:
    agrees(torch, case("permute", 3, pairs=pairs))


def test_broadcast_counts_the_root_in_the_group(torch: Torch, case: Make) -> None:
    agrees(torch, case("broadcast", 4, root=0, groups=UNSORTED))
    agrees(torch, case("broadcast", 4, root=1, groups=UNSORTED))


def test_groups_keep_the_order_they_are_given_in(torch: Torch, case: Make) -> None:
    agrees(torch, case("all_gather", 4, axis=0, tiled=True, groups=UNSORTED))
    agrees(torch, case("permute", 4, pairs=((0, 1),), groups=UNSORTED))
    agrees(torch, case("all_reduce", 4, op="sum", groups=((3, 1, 0), (2,))))


@pytest.mark.parametrize("layout", ["strided", "transposed", "broadcast", "offset"])
def test_layouts_reach_torch_as_strides(torch: Torch, case: Make, layout: str) -> None:
    agrees(torch, case("all_reduce", 2, shape=(2, 3), op="sum", layout=layout))
    agrees(torch, case("all_gather", 2, shape=(2, 3), axis=1, tiled=True, layout=layout))


@pytest.mark.parametrize("layout", ["contiguous", "strided", "transposed"])
def test_functional_collectives_take_the_dimension(functional: TorchFunctional, case: Make, layout: str) -> None:
    agrees(functional, case("all_reduce", 2, shape=(2, 4), op="max", layout=layout))
    agrees(functional, case("all_gather", 2, shape=(2, 4), axis=1, tiled=True, layout=layout))
    agrees(functional, case("reduce_scatter", 2, shape=(2, 4), op="sum", axis=1, tiled=True, layout=layout))
    agrees(functional, case("broadcast", 2, shape=(2, 4), root=1, layout=layout))


@pytest.mark.parametrize(("op", "dtype"), [("and", np.int32), ("or", bool), ("xor", np.uint8), ("mean", np.float32)])
def test_reductions_have_their_names_in_torch(
    torch: Torch, functional: TorchFunctional, case: Make, op: str, dtype: type
) -> None:
    agrees(torch, case("all_reduce", 2, op=op, dtype=dtype))
    agrees(functional, case("all_reduce", 2, op=op, dtype=dtype))


@pytest.mark.parametrize("tiled", [True, False])
def test_roots_count_in_the_group(torch: Torch, case: Make, tiled: bool) -> None:
    agrees(torch, case("reduce", 4, op="max", root=1, groups=UNSORTED))
    agrees(torch, case("gather", 4, shape=(2, 3), root=1, axis=1, tiled=tiled, groups=UNSORTED))
    agrees(torch, case("scatter", 4, shape=(2, 3), root=1, axis=0, tiled=tiled, groups=UNSORTED))


def test_an_axis_that_gather_has_not_is_refused_by_all(torch: Torch, case: Make) -> None:
    seen = torch.execute(case("gather", 3, root=1, axis=2, tiled=True))
    assert [error and error.kind for error in seen.errors] == ["IndexError"] * 3


@pytest.mark.parametrize("name", ["torch", "functional"])
def test_parts_of_all_to_all_may_differ(name: str, case: Make, request: pytest.FixtureRequest) -> None:
    tables = {"sends": ((1, 3), (4, 0)), "receives": ((1, 4), (3, 0))}
    agrees(request.getfixturevalue(name), case("all_to_all_uneven", 4, groups=UNSORTED, **tables))


@pytest.mark.parametrize("name", ["torch", "functional"])
def test_shuffle_lists_the_sources(name: str, case: Make, request: pytest.FixtureRequest) -> None:
    agrees(request.getfixturevalue(name), case("shuffle", 3, sources=(2, 0, 1)))


def test_the_functional_all_to_all_moves_the_sharded_dimension(functional: TorchFunctional, case: Make) -> None:
    agrees(functional, case("all_to_all", 2, shape=(2, 4), split_axis=1, concat_axis=0, tiled=True))


@pytest.mark.parametrize("pairs", [((0, 1), (1, 2), (2, 0)), ((2, 0),), ()])
def test_functional_messages_go_in_one_batch(
    functional: TorchFunctional, case: Make, pairs: tuple[tuple[int, int], ...]
) -> None:
    agrees(functional, case("permute", 3, pairs=pairs))


def test_what_a_coalesced_call_puts_into_its_list_is_what_the_program_goes_on_with(
    functional: TorchFunctional, case: Make
) -> None:
    """Torch 2.13 puts its rearranged blocks into the list of ``inputs``, which are "left unmodified"."""
    asked = case("reduce_scatter", 2, shape=(2, 4), op="sum", axis=1, tiled=True)
    attrs = {"op": "sum", "axis": 1, "tiled": True}
    steps = [
        Step(op="reduce_scatter", inputs=("x", "x"), outputs=("y", "z"), axes=("i",), attrs=attrs),
        Step(op="all_reduce", inputs=("x",), outputs=("w",), axes=("i",), attrs={"op": "sum"}),
    ]
    seen = functional.execute(program(asked, *steps, results=("w",)))
    assert seen.errors == ()
    assert [block and block.shape for block in seen.results["w"]] == [(4, 2)] * 2


def messages(asked: Case, *, received: bool) -> Case:
    pairs = ((0, 1), (1, 2))
    send = Step(op="send", inputs=("x",), outputs=("token",), axes=("i",), attrs={"pairs": pairs})
    attrs = {"pairs": pairs, "shape": (4,), "dtype": "int32"}
    recv = Step(op="recv", inputs=("token",), outputs=("y",), axes=("i",), attrs=attrs)
    return program(asked, send, recv, results=("y",)) if received else program(asked, send, results=())


@pytest.mark.parametrize("name", ["torch", "functional"])
def test_a_message_nobody_receives_is_not_taken_for_a_later_one(
    name: str, case: Make, request: pytest.FixtureRequest
) -> None:
    backend = request.getfixturevalue(name)
    lost = messages(case("permute", 3, pairs=(), shape=(4,), dtype=np.int32), received=False)
    found = messages(case("permute", 3, pairs=(), shape=(4,), dtype=np.int32, layout="offset"), received=True)
    for asked in (lost, lost, found, lost, found):
        agrees(backend, asked)


def test_steps_without_operands(torch: Torch, case: Make) -> None:
    asked = case("all_reduce", 4, op="sum")
    empty = {"inputs": (), "axes": ("i",), "groups": ((3, 1, 0), (2,))}
    steps = [Step(op=op, outputs=(op,), **empty) for op in ("axis_index", "axis_size")]
    agrees(torch, program(asked, Step(op="barrier", outputs=(), **empty), *steps, results=("axis_index", "axis_size")))


@pytest.mark.parametrize("axes", [("i", "j"), ("j", "i"), ("j",), ("k", "i"), ()])
def test_axes_of_a_mesh_are_groups_in_their_order(torch: Torch, case: Make, axes: tuple[str, ...]) -> None:
    mesh = (Axis("i", 2), Axis("j", 3), Axis("k", 1))
    step = Step(op="all_gather", inputs=("x",), outputs=("y",), axes=axes, attrs={"axis": 0, "tiled": True})
    agrees(torch, program(case("all_gather", 6, axis=0, tiled=True), step, results=("y",), mesh=mesh))


@pytest.mark.parametrize("name", ["torch", "functional"])
@pytest.mark.parametrize(
    ("op", "attrs"),
    [("all_reduce", {"op": "sum"}), ("all_gather", TILED), ("reduce_scatter", {"op": "sum", **TILED})],
)
def test_operands_are_reduced_and_moved_each(
    name: str, op: str, attrs: dict[str, Any], case: Make, request: pytest.FixtureRequest
) -> None:
    one, two = case(op, 2, shape=(2, 3)), case(op, 2, shape=(4,))
    asked = msgspec.structs.replace(one, inputs={"x": one.inputs["x"], "v": two.inputs["x"]})
    step = Step(op=op, inputs=("x", "v"), outputs=("y", "w"), axes=("i",), attrs=attrs)
    agrees(request.getfixturevalue(name), program(asked, step, results=("y", "w")))


def test_operands_of_two_dtypes_are_reduced_one_by_one(functional: TorchFunctional, case: Make) -> None:
    one, two = case("all_reduce", 2, op="sum"), case("all_reduce", 2, op="sum", dtype=np.int64)
    asked = msgspec.structs.replace(one, inputs={"x": one.inputs["x"], "v": two.inputs["x"]})
    step = Step(op="all_reduce", inputs=("x", "v"), outputs=("y", "w"), axes=("i",), attrs={"op": "sum"})
    agrees(functional, program(asked, step, results=("y", "w")))


def test_a_list_that_is_no_permutation_is_no_call_of_c10d(torch: Torch, case: Make) -> None:
    errors = torch.execute(case("shuffle", 2, shape=(0,), sources=(1,))).errors
    assert [None if each is None else each.kind for each in errors] == ["Unsupported"] * 2


def test_an_empty_list_is_a_complaint_about_an_argument(torch: Torch, case: Make) -> None:
    asked = case("all_to_all", 1, shape=(0,), split_axis=0, concat_axis=-1, tiled=False)
    (error,) = torch.execute(asked).errors
    assert error is not None
    assert (error.kind, error.category) == ("NotImplementedError", "invalid_argument")


@pytest.mark.parametrize("dtype", ["int16", "uint16", "uint64", "float8_e4m3fn", "float8_e5m2", "complex128", "bool"])
def test_messages_carry_every_dtype(torch: Torch, case: Make, dtype: str) -> None:
    agrees(torch, case("permute", 2, pairs=((1, 0),), dtype=NUMPY[dtype]))
