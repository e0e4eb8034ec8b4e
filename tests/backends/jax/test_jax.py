"""JAX through its adapter: every operation against the reference, and what the adapter adds to JAX."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from conformance.backends.claim_limits import supported
from conformance.backends.jax import Jax, JaxUnchecked
from conformance.cases.case import Case, Operand
from conformance.cases.program.features import features
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import DRAWN, NUMPY
from conformance.cases.tensor.layout import LAYOUTS, Layout
from conformance.cases.tensor.tensor import from_array
from tests.backends.jax.conftest import agrees, counting, one_step, program, refusal

STRIDED = ((0, 2), (1, 3))
UNSORTED = ((3, 0), (1, 2))
SINGLETONS = ((0,), (1,), (2,), (3,))


@pytest.mark.parametrize("dtype", DRAWN)
def test_all_reduce_of_every_dtype(jax: Jax, dtype: str) -> None:
    for op in ("sum",) if "complex" in dtype else ("sum", "max", "min"):
        agrees(jax, one_step("all_reduce", counting((3,), 3, dtype), op=op))


@pytest.mark.parametrize("op", ["sum", "max", "min"])
@pytest.mark.parametrize("groups", [STRIDED, UNSORTED, SINGLETONS, ((0,), (3, 1, 2))])
def test_all_reduce_over_groups(jax: Jax, unchecked: JaxUnchecked, op: str, groups: Groups) -> None:
    agrees(unchecked if op == "sum" else jax, one_step("all_reduce", counting((2, 2), 4), groups, op=op))


@pytest.mark.parametrize("tiled", [True, False])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("groups", [None, UNSORTED, SINGLETONS])
def test_all_gather(jax: Jax, tiled: bool, axis: int, groups: Groups | None) -> None:
    agrees(jax, one_step("all_gather", counting((2, 3), 4), groups, axis=axis, tiled=tiled))


@pytest.mark.parametrize(("tiled", "shape"), [(True, (2, 8)), (False, (2, 4))])
def test_reduce_scatter(jax: Jax, tiled: bool, shape: tuple[int, ...]) -> None:
    agrees(jax, one_step("reduce_scatter", counting(shape, 4), op="sum", axis=1, tiled=tiled))


@pytest.mark.parametrize("groups", [STRIDED, UNSORTED])
def test_reduce_scatter_over_groups(jax: Jax, groups: Groups) -> None:
    agrees(jax, one_step("reduce_scatter", counting((4,), 4), groups, op="sum", axis=0, tiled=True))


@pytest.mark.parametrize(("split", "concat"), [(0, 0), (0, 1), (1, 0)])
@pytest.mark.parametrize("tiled", [True, False])
def test_all_to_all(jax: Jax, split: int, concat: int, tiled: bool) -> None:
    agrees(jax, one_step("all_to_all", counting((3, 3), 3), split_axis=split, concat_axis=concat, tiled=tiled))


def test_all_to_all_over_groups(jax: Jax) -> None:
    agrees(jax, one_step("all_to_all", counting((2, 3), 4), UNSORTED, split_axis=0, concat_axis=1, tiled=True))


@pytest.mark.parametrize("pairs", [((0, 1), (1, 2), (2, 0)), ((2, 0),), ((1, 1),), ()])
def test_permute(jax: Jax, pairs: tuple[tuple[int, int], ...]) -> None:
    agrees(jax, one_step("permute", counting((2,), 3), pairs=pairs))


@pytest.mark.parametrize("world", range(1, 9))
def test_every_world(jax: Jax, world: int) -> None:
    agrees(jax, one_step("all_gather", counting((), world), axis=0, tiled=False))


@pytest.mark.parametrize("shape", [(0,), (2, 0, 3), ()])
def test_empty_and_rank_0_blocks(jax: Jax, shape: tuple[int, ...]) -> None:
    agrees(jax, one_step("all_reduce", counting(shape, 2), op="sum"))


def test_steps_run_as_one_program(jax: Jax) -> None:
    scatter = Step(
        op="reduce_scatter", inputs=("x",), outputs=("s",), axes=("i",), attrs={"op": "sum", "axis": 0, "tiled": True}
    )
    gather = Step(op="all_gather", inputs=("s",), outputs=("y",), axes=("i",), attrs={"axis": 0, "tiled": True})
    agrees(jax, program([scatter, gather], (Axis("i", 2),), counting((4,), 2)))


@pytest.mark.parametrize("axes", [("i",), ("j",), ("i", "j"), ("j", "i")])
def test_axes_of_a_mesh(jax: Jax, axes: tuple[str, ...]) -> None:
    step = Step(op="all_gather", inputs=("x",), outputs=("y",), axes=axes, attrs={"axis": 0, "tiled": False})
    agrees(jax, program([step], (Axis("i", 2), Axis("j", 3)), counting((2,), 6)))


def test_broadcast_has_no_translation_for_cpu(jax: Jax) -> None:
    error = refusal(jax, one_step("broadcast", counting((2,), 2), root=1))
    assert error.category == "unsupported"
    assert "pbroadcast" in error.message


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_does_not_change_the_value(jax: Jax, layout: Layout) -> None:
    blocks = [np.broadcast_to(block[:1], block.shape) for block in counting((2, 3), 2)]
    agrees(jax, one_step("all_gather", blocks, layouts=[layout, "contiguous"], axis=0, tiled=True))


@pytest.mark.parametrize("unsigned", ["uint32", "uint64"])
def test_movement_keeps_nan_payloads_and_negative_zero(jax: Jax, unsigned: str) -> None:
    bits = {"uint32": [0x7FC01234, 0x80000000, 0xFF800001], "uint64": [0x7FF8000000001234, 1 << 63, 0xFFF0000000000001]}
    block = np.array(bits[unsigned], unsigned).view(unsigned.replace("uint", "float"))
    agrees(jax, one_step("permute", [block, block[::-1]], pairs=((0, 1), (1, 0))))
    agrees(jax, one_step("all_gather", [block, block[::-1]], axis=0, tiled=True))


@pytest.mark.parametrize("dtype", DRAWN)
def test_the_way_in_and_out_keeps_every_bit(jax: Jax, dtype: str) -> None:
    width = NUMPY[dtype].itemsize
    patterns = (
        np.array([0, 1] * 12, np.uint8) if dtype == "bool" else np.arange(1, 1 + 24 * width, dtype=np.uint8) * 173
    )
    if dtype.endswith("int4"):
        patterns &= 15
    blocks = tuple(from_array(np.roll(patterns, rank).view(NUMPY[dtype])) for rank in range(3))
    nothing = Program(mesh=(Axis("i", 3),), steps=(), results=("x",))
    case = Case(program=nothing, inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "flipped", "offset"))})
    assert jax.execute(case).results == {"x": blocks}


def illegal() -> dict[str, Case]:
    blocks = counting((3,), 4)
    return {
        "groups leave a rank out": one_step("all_reduce", blocks, ((0, 1), (2,)), op="min"),
        "groups name a rank twice": one_step("all_reduce", blocks, ((0, 1), (1, 2, 3)), op="max"),
        "unequal groups": one_step("all_gather", blocks, ((0,), (1, 2, 3)), axis=0, tiled=True),
        "axis out of range": one_step("all_gather", blocks, axis=2, tiled=False),
        "indivisible extent": one_step("reduce_scatter", blocks, op="sum", axis=0, tiled=True),
        "unequal extent": one_step("all_to_all", blocks, split_axis=0, concat_axis=0, tiled=False),
        "source named twice": one_step("permute", blocks, pairs=((0, 1), (0, 2))),
        "position out of range": one_step("permute", blocks, pairs=((0, 4),)),
        "blocks of two shapes": one_step("all_reduce", [*blocks[1:], blocks[0][:2]], op="sum"),
        "no such reduction": one_step("all_reduce", blocks, op="product"),
        "groups in permute": one_step("permute", blocks, ((0, 1), (2, 3)), pairs=((0, 1),)),
        "more ranks than devices": one_step("all_reduce", counting((3,), 9), op="sum"),
    }


@pytest.mark.parametrize("what", illegal())
def test_a_rejection_is_an_error_on_every_rank(jax: Jax, what: str) -> None:
    assert refusal(jax, illegal()[what]).message


def test_an_error_of_xla_is_internal(jax: Jax) -> None:
    error = refusal(jax, one_step("all_gather", counting((3,), 4), ((0, 1, 2),), axis=0, tiled=False))
    assert error.category == "internal"
    assert "replica groups" in error.message


def test_a_refusal_names_no_file_of_this_machine(jax: Jax) -> None:
    error = refusal(jax, one_step("reduce_scatter", counting((2,), 2), op="sum", axis=-1, tiled=True))
    assert ".py" not in error.message


def test_a_write_into_an_input_is_seen(jax: Jax, monkeypatch: pytest.MonkeyPatch) -> None:
    case = one_step("all_reduce", counting((3,), 2), op="sum")

    def scribble(inputs: dict[str, list[np.ndarray]]) -> dict[str, list[np.ndarray]]:
        inputs["x"][1][2] = 99
        return {"y": inputs["x"]}

    monkeypatch.setattr(jax._kept, "program", lambda *_: type("Scribble", (), {"run": staticmethod(scribble)}))
    (touch,) = jax.execute(case).touched
    assert (touch.input, touch.rank, touch.index) == ("x", 1, 2)


def test_the_same_program_is_compiled_once(jax: Jax, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (
        one_step("all_reduce", [block * scale for block in counting((5, 7), 3)], op="sum") for scale in (1, 2)
    )
    agrees(jax, first)
    monkeypatch.setattr(jax, "_over", None)
    agrees(jax, second)


@pytest.mark.parametrize(
    ("case", "claimed"),
    [
        (one_step("all_reduce", counting((2,), 2), op="product"), False),
        (one_step("all_reduce", counting((2,), 3), ((0,), (1, 2)), op="sum"), True),
        (one_step("all_gather", counting((2,), 3), ((0,), (1, 2)), axis=0, tiled=True), True),
        (one_step("reduce_scatter", counting((2,), 2, "bool"), op="sum", axis=0, tiled=True), True),
        (one_step("reduce_scatter", counting((2,), 2), op="max", axis=0, tiled=True), False),
        (one_step("permute", counting((2,), 2), ((0, 1),), pairs=()), False),
        (one_step("broadcast", counting((2,), 2), root=0), False),
        (one_step("all_reduce", counting((2,), 9), op="sum"), False),
    ],
)
def test_claims_follow_the_documentation(jax: Jax, case: Case, claimed: bool) -> None:
    assert (supported(jax.claims, [case.program.steps[0].op], features(case)) is None) is claimed


def test_the_description_reproduces_a_run(jax: Jax) -> None:
    told = jax.describe()
    assert told["devices"] == "8"
    assert told["platform"] == "cpu"
    assert "device_count=8" in told["flags"]


def test_importing_the_adapter_does_not_import_jax() -> None:
    code = "import sys, conformance.backends.jax; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_programs_are_dropped_before_they_are_too_many(jax: Jax, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.backends.jax.kept_programs.FRESH", 2)
    for extent in range(1, 6):
        agrees(jax, one_step("all_reduce", counting((extent,), 2), op="sum"))
        assert len(jax._kept.cache) <= 2
