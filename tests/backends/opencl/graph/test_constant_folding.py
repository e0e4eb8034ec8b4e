"""What constants make is what the reference makes of them, where it is folded at all."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import numpy as np
import pytest

from conformance.backends.opencl.export.graph import as_case
from conformance.backends.opencl.graph.constant_folding import converted, folded
from conformance.backends.opencl.graph.value import GraphValue
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.reference.graph.conversion import cast
from conformance.reference.graph.elementwise import FUNCTIONS, apply
from tests.backends.opencl.conftest import OpenBackend

FLOATS = ("float32", "float64", "float16", "bfloat16")
INTEGERS = ("int8", "uint8", "int32", "uint32", "int64", "uint64")
NUMBERS = dict.fromkeys(FLOATS, (0.0, -0.0, 1.0, -1.5, 3.0, 0.1, 65519.0, 1e-07, np.inf, -np.inf)) | {
    name: (0, 1, 2, 3, 7, np.iinfo(name).min, np.iinfo(name).max, np.iinfo(name).max - 1) for name in INTEGERS
}


def const(number: Any, dtype: str) -> GraphValue:
    with np.errstate(all="ignore"):
        bits = np.asarray(number).astype(NUMPY[dtype]).tobytes()
    return GraphValue("const", dtype, (), 0, (), bits, 0)


def array(value: GraphValue) -> np.ndarray[Any, Any]:
    return np.frombuffer(value.arg, NUMPY[value.dtype])


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("op", ["div", "mod", "shl", "shr", "recip", "sqrt", "exp2", "log2", "sin"])
def test_an_operation_on_constants_is_folded_as_the_reference_has_it(op: str, dtype: str) -> None:
    count = 2 if op in ("div", "mod", "shl", "shr") else 1
    for numbers in itertools.product(NUMBERS[dtype], repeat=count):
        of = [const(each, dtype) for each in numbers]
        bits = folded(op, of, dtype)
        if bits is not None:
            found, right = np.frombuffer(bits, NUMPY[dtype]), apply(op, [array(each) for each in of])
            assert found.tobytes() == right.tobytes() or np.isnan([*found, *right]).all()


def test_which_operations_on_constants_take_no_kernel() -> None:
    one = {dtype: const(1, dtype) for dtype in (*FLOATS, *INTEGERS)}
    for op in ("recip", "sqrt", "exp2", "log2", "sin"):
        assert all(folded(op, [one[dtype]], dtype) for dtype in FLOATS)
    assert all(folded(op, [one[dtype]] * 2, dtype) for op in ("div", "mod") for dtype in one)
    assert folded("shl", [one["int8"], const(8, "int8")], "int8") is None
    assert set(FUNCTIONS) >= {"div", "mod", "shl", "shr"}


NARROW = ("bool", "float8_e5m2", "float8_e8m0fnu", "float8_e4m3fnuz")


@pytest.mark.parametrize(("dtype", "to"), [*itertools.product((*FLOATS, *INTEGERS), (*FLOATS, *INTEGERS, *NARROW))])
def test_a_constant_is_converted_as_the_reference_has_it(dtype: str, to: str) -> None:
    for number in NUMBERS[dtype]:
        value = const(number, dtype)
        bits = converted(value, to)
        if bits is not None:
            assert bits == cast(array(value), to).tobytes()


def test_a_conversion_with_one_result_takes_no_kernel() -> None:
    for number, dtype, to in [(0.0, "float64", "int32"), (-1.5, "bfloat16", "int8"), (2, "int64", "float8_e5m2")]:
        assert converted(const(number, dtype), to) == cast(np.asarray([number], NUMPY[dtype]), to).tobytes()
    assert converted(const(np.inf, "float32"), "bool") == b"\x01"
    assert converted(const(300.0, "float32"), "int8") is None


@pytest.mark.parametrize(("dtype", "to"), [*itertools.permutations(["int2", "uint2", "int4", "uint4", "uint8"], 2)])
def test_an_integer_of_few_bits_becomes_one_of_others(dtype: str, to: str) -> None:
    for number in range(-1 if dtype.startswith("i") else 0, 4):
        value = const(number, dtype)
        assert converted(value, to) == cast(array(value).astype("int8"), to).tobytes()


COMPLEX = (0, 1, -1.5 + 2j, 3j, 1e300 + 0.1j, complex(np.nan, 1), complex(0, np.nan), complex(-np.inf, -0.0))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("to", ["complex64", "complex128", "bool", "float32", "float16", "int32", "uint8"])
def test_a_complex_constant_is_converted_as_the_reference_has_it(dtype: str, to: str) -> None:
    with np.errstate(all="ignore"):
        for number in COMPLEX:
            bits, right = converted(const(number, dtype), to), cast(array(const(number, dtype)), to)
            assert bits is None or np.array_equal(np.frombuffer(bits, NUMPY[to]), right, equal_nan=to != "bool")
    assert converted(const(1, "int8"), dtype) == const(1, dtype).arg


@pytest.mark.parametrize("op", ["add", "sub", "neg", "ne", "eq", "mul", "div", "recip"])
def test_c1_complex_constants_take_no_kernel(op: str) -> None:
    count, dtype = 1 if op in ("neg", "recip") else 2, "bool" if op in ("ne", "eq") else "complex64"
    for numbers in itertools.product(COMPLEX, repeat=count):
        of = [const(each, "complex64") for each in numbers]
        with np.errstate(all="ignore"):
            bits, right = folded(op, of, dtype), apply(op, [array(each) for each in of])
        assert bits is not None
        assert np.array_equal(np.frombuffer(bits, NUMPY[dtype]), right, equal_nan=dtype != "bool")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("op", ["mul", "div", "recip"])
def test_a_complex_result_is_folded_to_the_bits_of_a_kernel(op: str, dtype: str, opencl: OpenBackend) -> None:
    random = np.random.default_rng(7)
    parts = random.standard_normal((2, 100, 2)) * 2.0 ** random.integers(-40, 40, (2, 100, 2))
    of = parts.astype(NUMPY[dtype].type(0).real.dtype).view(NUMPY[dtype])[: 1 if op == "recip" else 2, :, 0]
    at = {"shape": (100,), "dtype": dtype, "device": "d"}
    names = tuple(f"b{number}" for number in range(len(of)))
    nodes = (
        *(Node(id=name, op="buf", arg=name, **at) for name in names),
        Node(id="y", op="alu", of=names, arg=op, **at),
    )
    buffers = dict(zip(names, map(from_array, of), strict=True))
    case = msgspec.structs.replace(as_case(Graph(nodes=nodes, results=("y",))), buffers=buffers)
    (found,) = opencl().graphs.run(case).values()
    bits = [folded(op, [const(each, dtype) for each in terms], dtype) for terms in zip(*of, strict=True)]
    assert to_array(found).tobytes() == b"".join(each or b"" for each in bits)
