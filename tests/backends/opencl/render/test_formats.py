"""Every format against the NumPy type it stands for, on the bits, for every reduction it has."""

from __future__ import annotations

import warnings

import numpy as np
import pyopencl as cl
import pytest

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.render.elementwise import conversion
from conformance.backends.opencl.render.prelude import ELEMENTWISE, PRELUDE
from conformance.backends.opencl.runtime.engine import Engine
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.settings import Settings
from conformance.cases.program.program import Attr, Axis, Program, Step
from conformance.cases.tensor.dtypes import DTYPES, NUMPY, RARE, Array, kind, logical
from conformance.reference.operations.all_reduce import all_reduce
from conformance.reference.operations.arg_reduce import arg_reduce
from conformance.reference.reductions import REDUCTIONS, check, fold

ARITHMETIC = ("sum", "product", "mean", "premul_sum")


def has(dtype: str, op: str) -> bool:
    try:
        check(dtype, op)
    except ValueError:
        return False
    return True


def reduced(session: Session, operation: str, blocks: list[Array], **attrs: Attr) -> Array:
    """Return the reduction of blocks as rank 0 receives it."""
    engine = Engine(session, Settings(force="direct", stream_from=2**62))
    step = Step(op=operation, inputs=("x",), outputs=("y",), axes=("i",), attrs=attrs)
    program = Program(mesh=(Axis("i", len(blocks)),), steps=(step,), results=("y",))
    found = engine.read(engine.start(program, {"x": engine.put([(b, b) for b in blocks])}).done()["y"])[0]
    assert found is not None
    return found


def pairs(dtype: str) -> tuple[Array, Array]:
    """Return every pair of bit patterns of an 8-bit type, or 4096 random ones of a wider type."""
    numpy = NUMPY[dtype]
    if numpy.itemsize == 1:
        patterns = np.arange(2 if dtype == "bool" else 1 << DTYPES[dtype].bits, dtype=np.uint8).view(numpy)
        return np.repeat(patterns, patterns.size), np.tile(patterns, patterns.size)
    random = np.random.default_rng(0).bytes(2 * 4096 * numpy.itemsize)
    one, other = np.frombuffer(random, numpy).reshape(2, 4096)
    return one, other


def differing(found: Array, wanted: Array, *, any_nan: bool) -> Array:
    assert found.dtype == wanted.dtype
    differ = (found.view(np.uint8) != wanted.view(np.uint8)).reshape(wanted.size, -1).any(axis=1)
    if any_nan and np.dtype(wanted.dtype).kind in "fcV":
        differ &= ~(np.isnan(found) & np.isnan(wanted))
    return differ


def quiet(values: Array) -> Array:
    """Return the values with no NaN that signals, as Intel's compiler makes them on processors without AVX-512."""
    first = {"float32": np.uint32(1 << 22), "float64": np.uint64(1 << 51)}.get(str(values.dtype))
    if first is None:
        return values
    return np.where(np.isnan(values), values.view(first.dtype) | first, values.view(first.dtype)).view(values.dtype)


def test_every_dtype_has_a_format() -> None:
    assert {name: form.itemsize for name, form in FORMATS.items()} == {
        name: held.itemsize for name, held in NUMPY.items()
    }


@pytest.mark.parametrize("dtype", RARE)
def test_a_rare_dtype_is_converted_as_numpy_does(dtype: str, session: Session) -> None:
    held, _ = pairs(dtype)
    codes = np.unique(held.view(np.uint8)).view(NUMPY[dtype])
    wide = np.linspace(-40, 40, 4001, dtype=np.float32) * np.float32(2.0) ** np.arange(-12, 12).repeat(170)[:4001]
    with np.errstate(all="ignore"):
        numbers = wide if kind(dtype) == "float" else np.trunc(wide % 2)
        assert not differing(converted(session, codes, "float32"), codes.astype(np.float32), any_nan=True).any()
        wanted = numbers.astype(NUMPY[dtype])
    assert not differing(converted(session, numbers.astype(np.float32), dtype), wanted, any_nan=True).any()


def converted(session: Session, values: Array, target: str) -> Array:
    """Return the values in another dtype, by a kernel of one conversion."""
    context, source = session.platform.context, logical(values.dtype)
    load, store = FORMATS[source].storage, FORMATS[target].storage
    text = f"""{PRELUDE}{ELEMENTWISE}
    __kernel void convert(__global const {load}* x, __global {store}* y) {{
      size_t i = get_global_id(0); y[i] = {conversion("x[i]", source, target)}; }}"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program = cl.Program(context, text).build()
    queue = cl.CommandQueue(context, context.devices[0])
    found = np.empty(values.shape, NUMPY[target])
    flags = cl.mem_flags.COPY_HOST_PTR
    read = cl.Buffer(context, cl.mem_flags.READ_ONLY | flags, hostbuf=values.view(np.uint8))
    written = cl.Buffer(context, cl.mem_flags.WRITE_ONLY, found.nbytes)
    program.convert(queue, values.shape, None, read, written)
    cl.enqueue_copy(queue, found.view(np.uint8), written)
    return found


CASES = [(dtype, op) for dtype in FORMATS for op in REDUCTIONS if has(dtype, op)]


@pytest.mark.parametrize(("dtype", "op"), CASES)
def test_a_format_computes_the_bits_of_its_numpy_type(dtype: str, op: str, session: Session) -> None:
    one, other = pairs(dtype)
    if "complex" in dtype and op in ARITHMETIC:
        # NumPy's own product is fused on some processors, so only exact products have one answer.
        one, other = (np.resize(np.array([1 + 2j, -3 + 1j, 0.5j, 4]), 16).astype(dtype) for _ in range(2))
        other = other[::-1].copy()
    factor = {"factor": 0.75} if op == "premul_sum" else {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = fold([one, other], op, factor.get("factor", 1.0))
    found = reduced(session, "all_reduce", [one, other], op=op, **factor)
    # Which NaN arithmetic gives is not part of its meaning; which one max and min choose is.
    differ = differing(quiet(found), quiet(wanted), any_nan=op in ARITHMETIC)
    assert not differ.any(), (one[differ][:4], other[differ][:4], found[differ][:4], wanted[differ][:4])


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@pytest.mark.parametrize("dtype", [dtype for dtype in FORMATS if kind(dtype) != "complex"])
@pytest.mark.parametrize("op", ["max", "min"])
def test_positions_are_found_among_all_bit_patterns(dtype: str, op: str, session: Session) -> None:
    one, other = pairs(dtype)
    wanted = arg_reduce([one, other], op=op, groups=((0, 1),))[0]
    found = reduced(session, "arg_reduce", [one, other], op=op)
    differ = differing(found, wanted, any_nan=False)
    assert not differ.any(), (one[differ][:4], other[differ][:4], found[differ][:4], wanted[differ][:4])


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("members", [3, 5, 7])
def test_a_mean_by_an_odd_number_rounds_as_numpy_does(dtype: str, members: int, session: Session) -> None:
    random = np.random.default_rng(members)
    values = random.integers(0, 8 if "int4" in dtype else 100, (members, 300)).astype(np.float64)
    blocks = [row.astype(NUMPY[dtype]) for row in values]
    with np.errstate(all="ignore"):
        wanted = fold(blocks, "mean")
    assert not differing(reduced(session, "all_reduce", blocks, op="mean"), wanted, any_nan=True).any()


@pytest.mark.parametrize("dtype", ["float8_e5m2", "float8_e4m3fn", "bfloat16", "float16"])
@pytest.mark.parametrize("members", [1, 3])
def test_a_mean_divides_by_a_count_that_its_dtype_does_not_hold(dtype: str, members: int, session: Session) -> None:
    one, _ = pairs(dtype)
    count = {"float8_e5m2": 9, "float8_e4m3fn": 21, "bfloat16": 273, "float16": 2049}[dtype] // members
    blocks = [np.zeros((count, 256), NUMPY[dtype]) for _ in range(members)]
    blocks[0][0] = np.unique(one.view(f"u{one.itemsize}"))[:256].view(NUMPY[dtype])
    with np.errstate(all="ignore"):
        wanted = all_reduce(blocks, op="mean", local_axes=(0,), groups=(tuple(range(members)),))[0]
    found = reduced(session, "all_reduce", blocks, op="mean", local_axes=(0,))
    assert not differing(found, wanted, any_nan=True).any()
