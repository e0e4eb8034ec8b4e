"""The interpreter is asked in StableHLO's own words, and every bit goes in and out as it is."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

from conformance.backends.base import Backend, Unsupported
from conformance.backends.claim_limits import supported
from conformance.backends.stablehlo import StableHlo, StableHloChannels
from conformance.backends.stablehlo.elements import SsaValue
from conformance.backends.stablehlo.module import module
from conformance.cases.case import Case, Operand
from conformance.cases.program.features import features
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.tensor.dtypes import DRAWN, NUMPY
from conformance.cases.tensor.tensor import from_array

Make = Callable[..., Case]
Agrees = Callable[[Backend, Case], None]

FORMS: dict[str, dict[str, Attr]] = {
    "all_reduce": {"op": "max"},
    "all_gather": {"axis": 0, "tiled": True},
    "reduce_scatter": {"op": "min", "axis": 0, "tiled": True},
    "all_to_all": {"split_axis": 0, "concat_axis": 0, "tiled": True},
    "permute": {"pairs": ((0, 1),)},
    "broadcast": {"root": 1},
}


@pytest.fixture(scope="module")
def interpreter() -> StableHlo:
    pytest.importorskip("jaxlib")
    found = StableHlo()
    if "2" not in found.claims["all_reduce"]["world"]:
        pytest.skip("the interpreter runs one process at a time here")
    return found


@pytest.mark.parametrize("op", FORMS)
@pytest.mark.parametrize("dtype", [name for name in DRAWN if "complex" not in name])
def test_every_collective_of_every_dtype(
    interpreter: StableHlo, one: Make, agrees: Agrees, op: str, dtype: str
) -> None:
    agrees(interpreter, one(op, 2, dtype=NUMPY[dtype], **FORMS[op]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_come_out_as_parts(interpreter: StableHlo, one: Make, agrees: Agrees, dtype: str) -> None:
    agrees(interpreter, one("all_reduce", 2, dtype=NUMPY[dtype], op="sum"))
    agrees(interpreter, one("all_gather", 2, dtype=NUMPY[dtype], shape=(2, 1), axis=1, tiled=True))


@pytest.mark.parametrize("dtype", DRAWN)
@pytest.mark.parametrize("shape", [(24,), (0,), (2, 0, 3), ()])
def test_the_way_in_and_out_keeps_every_bit(interpreter: StableHlo, dtype: str, shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape)) * NUMPY[dtype].itemsize
    bits = np.arange(1, 1 + count, dtype=np.uint8) * 173
    if dtype == "bool" or dtype.endswith("int4"):
        bits &= 1 if dtype == "bool" else 15
    blocks = tuple(from_array(np.roll(bits, rank).view(NUMPY[dtype]).reshape(shape)) for rank in range(2))
    nothing = Program(mesh=(Axis("i", 2),), steps=(), results=("x",))
    case = Case(program=nothing, inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "flipped"))})
    assert interpreter.execute(case).results == {"x": blocks}


@pytest.mark.parametrize("op", FORMS)
def test_positions_are_those_of_a_group_in_its_order(
    interpreter: StableHlo, one: Make, agrees: Agrees, op: str
) -> None:
    agrees(interpreter, one(op, 2, groups=((1, 0),), **FORMS[op]))


def test_several_operands_are_mapped(interpreter: StableHlo, one: Make, agrees: Agrees) -> None:
    agrees(interpreter, one("all_gather", 2, operands=3, groups=((0,), (1,)), **FORMS["all_gather"]))


def test_groups_of_several_axes_are_replica_groups_and_the_shorter_filled_up() -> None:
    mesh = (Axis("i", 2), Axis("j", 2))
    types = {"x": ("bfloat16", (2,))}

    def text(axes: tuple[str, ...], groups: tuple[tuple[int, ...], ...] | None) -> str:
        step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=axes, groups=groups, attrs={"op": "sum"})
        return module(Program(mesh=mesh, steps=(step,), results=("y",)), types).text

    assert "dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>" in text(("i",), None)
    assert "dense<[[0, 2, 1, 3]]> : tensor<1x4xi64>" in text(("j", "i"), None)
    assert "dense<[[3, -1, -1], [0, 1, 2]]> : tensor<2x3xi64>" in text(("i", "j"), ((3,), (0, 1, 2)))
    assert "stablehlo.add" in text(("i",), None)
    assert "all_reduce" not in text((), None)


@pytest.mark.parametrize(
    ("op", "attrs"),
    [
        ("all_gather", {"axis": 0, "tiled": False}),
        ("all_gather", {"axis": -1, "tiled": True}),
        ("all_reduce", {"op": "mean"}),
        ("all_reduce", {"op": "sum", "local_axes": (0,)}),
        ("permute", {"pairs": ((0, -1),)}),
        ("broadcast", {"root": -1}),
    ],
)
def test_what_the_standard_has_no_words_for_is_not_claimed(
    interpreter: StableHlo, one: Make, op: str, attrs: dict[str, Attr]
) -> None:
    case = one(op, 2, **attrs)
    assert supported(interpreter.claims, [op], features(case)) is not None
    assert interpreter.execute(case).errors


@pytest.mark.parametrize(("op", "attrs"), [("permute", {"pairs": ((0, 2),)}), ("broadcast", {"root": 2})])
def test_a_position_that_is_none_has_no_process_to_be_named_by(
    interpreter: StableHlo, one: Make, op: str, attrs: dict[str, Attr]
) -> None:
    assert {error and error.kind for error in interpreter.execute(one(op, 2, **attrs)).errors} == {"Unsupported"}


def test_processes_are_partitions_where_each_collective_has_a_channel(
    interpreter: StableHlo, one: Make, agrees: Agrees
) -> None:
    channels = StableHloChannels()
    for op, attrs in FORMS.items():
        agrees(channels, one(op, 2, operands=3, groups=((1, 0),), **attrs))
    text = module(
        one("permute", 2, operands=2, **FORMS["permute"]).program,
        dict.fromkeys(("x0", "x1"), ("int32", ())),
        channels=True,
    )
    assert "programs = [[@process, @process]]" in text.text
    assert "handle = 2" in text.text


def test_the_verifier_refuses_what_it_can_tell_without_running_it(interpreter: StableHlo, one: Make) -> None:
    seen = interpreter.execute(one("all_gather", 2, axis=3, tiled=True))
    assert {error and error.category for error in seen.errors} == {"invalid_argument"}
    assert "all_gather_dim" in (seen.errors[0].message if seen.errors[0] else "")


@pytest.mark.parametrize("op", ["and", "or", "xor"])
def test_the_verifier_blames_the_operand_that_an_operation_does_not_take(
    interpreter: StableHlo, one: Make, op: str
) -> None:
    refused = interpreter.execute(one("all_reduce", 2, dtype=np.float16, op=op)).errors
    assert {error.category for error in refused if error} == {"invalid_argument"}


def test_a_slip_of_the_adapter_is_not_the_interpreters(
    interpreter: StableHlo, one: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.backends.stablehlo.interpreter.carried", lambda block, dtype: block.nothing)
    seen = interpreter.execute(one("all_gather", 2, **FORMS["all_gather"]))
    assert {error and error.category for error in seen.errors} == {"adapter"}


def test_ranks_that_hold_different_shapes_are_no_single_program(one: Make) -> None:
    first, second = (from_array(np.zeros(extent, ml_dtypes.bfloat16)) for extent in (1, 2))
    case = one("all_gather", 2, **FORMS["all_gather"])
    from conformance.backends.stablehlo import types_of

    operand = Operand(blocks=(first, second), layouts=("contiguous",) * 2)
    with pytest.raises(Unsupported, match="one function"):
        types_of(Case(program=case.program, inputs={"x": operand}))


def test_a_type_is_written_as_the_standard_writes_it() -> None:
    assert SsaValue("%x", "float8_e4m3fn", (2, 0)).type == "tensor<2x0xf8E4M3FN>"
    assert SsaValue("%x", "complex64", ()).type == "tensor<complex<f32>>"


def test_importing_the_adapter_does_not_import_jax() -> None:
    code = "import sys, conformance.backends.stablehlo; sys.exit('jax' in sys.modules or 'jaxlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
