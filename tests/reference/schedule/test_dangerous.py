"""Data on which every wrong narrowing, clamp and identity shows, and every right evaluation gives the same."""

from __future__ import annotations

import pytest

from conformance.cases.schedule.builders import alu, buffer, graph, line, reads, schedule, stored, tensor, writes
from conformance.cases.schedule.kernel_body import Alu, Body, Cast, Constant, Instruction, Load, Store
from conformance.cases.schedule.schedule import Kernel
from conformance.reference.schedule.execute import law
from conformance.reference.schedule.facts import Facts

Line = tuple[str, int, int] | tuple[str, int] | tuple[str, int, int, int] | str | float


def computed(asked: str, dtype: str, *lines: Line, made: str | None = None) -> str | None:
    """Return what the law says of ``asked`` of a (and b, and c), computed by lines.

    Numbers 0, 1, 2 are a, b, c. A line is an operation of earlier ones, a cast to a dtype, or a constant.
    """
    made = made or dtype
    words = asked.split()
    names = ("a", "b", "c")
    nodes = [stored(name, dtype=dtype) for name in names]
    first = alu("s", words[0], *words[1].split(","), dtype=made)
    nodes += [first, alu("y", words[2], "s", words[3], dtype=made)] if len(words) > 2 else [first]
    code: list[Instruction] = [Load(access=at) for at in range(3)]
    for each in lines:
        if isinstance(each, str):
            code.append(Cast(of=len(code) - 1, dtype=each))
        elif isinstance(each, tuple):
            code.append(Alu(op=each[0], of=each[1:]))  # type: ignore[arg-type]  # a word of ``Alu``
        else:
            code.append(Constant(value=tensor(each, made if isinstance(each, bool) else dtype)))
    code.append(Store(access=3, of=len(code) - 1))
    own = (*(reads(name, line()) for name in names), writes("y", line()))
    item = Kernel(id="k", device="d0", accesses=own, bodies=(Body(extents=(4,), instructions=tuple(code)),))
    buffers = [*(buffer(name, dtype=dtype, preexisting=True) for name in names), buffer("y", dtype=made)]
    return law(Facts(schedule(buffers, [item], graph(*nodes, results=[nodes[-1].id]), {nodes[-1].id: "y"})))


WRONG: dict[str, tuple[str, str, tuple[Line, ...]]] = {
    "a product cut to int8": ("mul a,b", "float32", (("mul", 0, 1), "int8", "float32")),
    "a product clamped": ("mul a,b", "float32", (("mul", 0, 1), 4.0, ("min", 3, 4))),
    "a product through e5m2": ("mul a,b", "float32", (("mul", 0, 1), "float8_e5m2", "float32")),
    "a product through bfloat16": ("mul a,b", "float32", (("mul", 0, 1), "bfloat16", "float32")),
    "a product through float16": ("mul a,b", "float32", (("mul", 0, 1), "float16", "float32")),
    "a square as 3|a| - 2": ("mul a,a", "float32", (3.0, ("abs", 0), ("mul", 3, 4), 2.0, ("sub", 5, 6))),
    "a bfloat16 sum through e4m3": ("add a,b", "bfloat16", (("add", 0, 1), "float8_e4m3fn", "bfloat16")),
    "a bfloat16 sum through e5m2": ("add a,b", "bfloat16", (("add", 0, 1), "float8_e5m2", "bfloat16")),
    "a float16 sum through int8": ("add a,b", "float16", (("add", 0, 1), "int8", "float16")),
    "a float16 sum through e4m3": ("add a,b", "float16", (("add", 0, 1), "float8_e4m3fn", "float16")),
    "an e4m3 sum through e5m2": ("add a,b", "float8_e4m3fn", (("add", 0, 1), "float8_e5m2", "float8_e4m3fn")),
    "an e5m2 sum through e4m3": ("add a,b", "float8_e5m2", (("add", 0, 1), "float8_e4m3fn", "float8_e5m2")),
    "a difference as 0": ("sub a,a", "float32", (0.0,)),
    "a quotient as 1": ("div a,a", "float32", (1.0,)),
    "a double sum through float32": ("add a,b", "float64", (("add", 0, 1), "float32", "float64")),
    "an int32 sum through float32": ("add a,b", "int32", (("add", 0, 1), "float32", "int32")),
    "an int32 sum through int16": ("add a,b", "int32", (("add", 0, 1), "int16", "int32")),
    "an int16 sum through int8": ("add a,b", "int16", (("add", 0, 1), "int8", "int16")),
    "a uint8 as a signed one": ("max a,b", "uint8", (("max", 0, 1), 127.0, ("min", 3, 4))),
    "a minimum for a maximum": ("max a,b", "float32", (("min", 0, 1),)),
    "an absolute value as the value": ("abs a", "float32", (("neg", 0), ("neg", 3))),
    "a remainder as 0": ("mod a,b", "int32", (("sub", 0, 0),)),
    "a difference turned round": ("sub a,b", "float32", (("sub", 1, 0),)),
    "a product that loses the sign": ("mul a,b", "float32", (("abs", 0), ("abs", 1), ("mul", 3, 4))),
}  # fmt: skip

RIGHT: dict[str, tuple[str, str, tuple[Line, ...]]] = {
    "a difference as a sum": ("sub a,b", "float32", (("neg", 1), ("add", 0, 3))),
    "a quotient by the reciprocal": ("div a,b", "float32", (("recip", 1), ("mul", 0, 3))),
    "a sum associated otherwise": ("add a,b add c", "float32", (("add", 1, 2), ("add", 0, 3))),
    "a sum of bfloat16 associated otherwise": ("add a,b add c", "bfloat16", (("add", 1, 2), ("add", 0, 3))),
    "a product associated otherwise": ("mul a,b mul c", "float32", (("mul", 1, 2), ("mul", 0, 3))),
    "a product of float16 associated otherwise": ("mul a,b mul c", "float16", (("mul", 1, 2), ("mul", 0, 3))),
    "a sum of float16 associated otherwise": ("sub a,b add c", "float16", (("sub", 2, 1), ("add", 0, 3))),
    "a sum of e5m2 associated otherwise": ("add a,b add c", "float8_e5m2", (("add", 1, 2), ("add", 0, 3))),
    "a sum of e4m3 associated otherwise": ("add a,b add c", "float8_e4m3fn", (("add", 1, 2), ("add", 0, 3))),
    "a product of bfloat16 associated otherwise": ("mul a,b mul c", "bfloat16", (("mul", 1, 2), ("mul", 0, 3))),
    "a quotient of a quotient": ("div a,b div c", "float32", (("mul", 1, 2), ("div", 0, 3))),
    "a double sum associated otherwise": ("add a,b sub c", "float64", (("sub", 1, 2), ("add", 0, 3))),
    "a sum turned round": ("add a,b", "float8_e5m2", (("add", 1, 0),)),
    "a sum of float16 by way of float32": ("neg a", "float16", (-1.0, ("mul", 0, 3))),
    "an integer sum associated otherwise": ("add a,b mul c", "int8", (("mul", 0, 2), ("mul", 1, 2), ("add", 3, 4))),
    "a maximum by comparison": ("max a,b", "float32", (("lt", 0, 1), ("where", 3, 1, 0))),
    "an absolute value by comparison": ("abs a", "float32", (0.0, ("lt", 0, 3), ("neg", 0), ("where", 4, 5, 0))),
    "twice as a sum": ("add a,a", "float32", (2.0, ("mul", 0, 3))),
    "a negation as a difference": ("neg a", "float32", (0.0, ("sub", 3, 0))),
    "a reciprocal of a negation": ("neg a div b", "float32", (0.0, ("sub", 3, 0), ("div", 4, 1))),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_operation_breaks_the_law(name: str) -> None:
    asked, dtype, lines = WRONG[name]
    assert computed(asked, dtype, *lines) is not None


@pytest.mark.parametrize("name", RIGHT)
def test_another_right_way_to_compute_keeps_it(name: str) -> None:
    asked, dtype, lines = RIGHT[name]
    assert computed(asked, dtype, *lines) is None


def test_complex_numbers_have_parts_of_their_own() -> None:
    assert computed("add a,b", "complex64", ("add", 0, 1)) is None
    assert computed("add a,b", "complex64", ("add", 0, 1), "float32", "complex64") is not None
