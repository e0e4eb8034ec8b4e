"""How each dtype is stored, computed with and rounded: one row a dtype, and the OpenCL C its rows stand for.

Arithmetic is load, widen, operate, round, after every operation: the accumulator is always in storage form, so
no result ever depends on how operations were fused. Signed integers add and multiply as unsigned ones, for
signed overflow is undefined and compilers use that. Selections (max, min) return an operand's own bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Format:
    """One dtype.

    ``storage`` is the C type of an element in memory, ``itemsize`` its bytes. ``arithmetic`` is the C type that
    sums and products are computed in, with ``widen`` (storage to arithmetic) and ``round`` (back) as C expressions
    of ``{x}``; ``order`` is what is compared. ``multiply``, ``greater`` and ``less`` combine ``{a}`` and ``{b}``, and
    ``unordered`` says whether ``{a}`` is NaN, which then wins max and min (empty: never). Where neither operand wins
    the later one stays. ``scalar`` is the storage form of a number whose bits are the ``long`` ``{x}``, and ``divide``
    the quotient, rounded once to arithmetic ``{real}``: in double, for a quotient of floats is then correctly rounded
    on every device, however it divides floats. That of a narrow float, whose divisor is a double, is rounded to odd, so
    that ``round`` rounds it as if for the first time.
    """

    storage: str
    itemsize: int
    arithmetic: str
    widen: str = "{x}"
    round: str = "{x}"
    order: str = "{x}"
    multiply: str = "({a} * {b})"
    greater: str = "{a} > {b}"
    less: str = "{a} < {b}"
    unordered: str = ""
    scalar: str = "{x}"
    divide: str = "(({real})((double){a} / (double){b}))"


def _integer(bits: int, *, signed: bool) -> Format:
    narrow = {8: "char", 16: "short", 32: "int", 64: "long"}[bits]
    storage = narrow if signed else f"u{narrow}"
    # Narrow types are computed in uint, for the usual promotion to int would overflow: 65535 * 65535.
    arithmetic = "ulong" if bits == 64 else "uint"
    return Format(
        storage, bits // 8, arithmetic, widen=f"(({arithmetic}){{x}})", round=f"(({storage})(u{narrow})({{x}}))"
    )


def _nibble(*, signed: bool) -> Format:
    """Four bits in the lower half of a byte, the upper half zero."""
    order = "((char)({x} << 4) >> 4)" if signed else "{x}"
    return Format("uchar", 1, "uint", widen="((uint){x})", round="((uchar)(({x}) & 15u))", order=order)


def _selects(integer: str) -> dict[str, str]:
    """Return when ``{a}`` wins max and min, +0.0 being the greater of both zeros in whatever order they come.

    ``signbit`` took 2.6 times as long to say so (max of 4 ranks of 4 MiB of float32, PoCL on two cores); this is free.
    """
    sign = f"as_{integer}({{a}})"
    return {
        "greater": f"({{a}} > {{b}} || ({{a}} == {{b}} && {sign} >= 0))",
        "less": f"({{a}} < {{b}} || ({{a}} == {{b}} && {sign} < 0))",
    }


def _float(storage: str, itemsize: int) -> Format:
    scalar = "as_double({x})" if storage == "double" else "as_float((uint){x})"
    selects = _selects("long" if storage == "double" else "int")
    return Format(storage, itemsize, storage, unordered="{a} != {a}", scalar=scalar, **selects)


def _narrow_float(storage: str, itemsize: int, kind: str, arguments: str = "") -> Format:
    """A float that is computed as float32 and rounded by a function of the prelude."""
    widen = f"widen_{kind}({{x}}{arguments})"
    round_ = f"(({storage})round_{kind}({{x}}{arguments}))"
    divide = "odd((double){a} / {b})"
    more = {"unordered": "{a} != {a}", "scalar": f"(({storage}){{x}})", "divide": divide, **_selects("int")}
    return Format(storage, itemsize, "float", widen, round_, widen, **more)


def _complex(real: str, itemsize: int) -> Format:
    kind = f"{real}2"
    return Format(
        kind,
        itemsize,
        kind,
        multiply=f"times_{kind}({{a}}, {{b}})",
        greater=f"after_{kind}({{a}}, {{b}})",
        less=f"after_{kind}({{b}}, {{a}})",
        unordered=f"unordered_{kind}({{a}})",
        scalar=f"(({kind})({_float(real, itemsize // 2).scalar}, 0))",
        divide=f"quotient_{kind}({{a}}, {{b}})",
    )


FORMATS: Final[dict[str, Format]] = {
    # Any non-zero byte is true, so every load says so; a result is 0 or 1.
    "bool": Format(
        "uchar", 1, "uint", widen="((uint)({x} != 0))", round="((uchar)({x} != 0))", order="((uchar)({x} != 0))"
    ),
    "int4": _nibble(signed=True),
    "int8": _integer(8, signed=True),
    "int16": _integer(16, signed=True),
    "int32": _integer(32, signed=True),
    "int64": _integer(64, signed=True),
    "uint4": _nibble(signed=False),
    "uint8": _integer(8, signed=False),
    "uint16": _integer(16, signed=False),
    "uint32": _integer(32, signed=False),
    "uint64": _integer(64, signed=False),
    "float8_e4m3fn": _narrow_float("uchar", 1, "small", ", 4, 3, 0"),
    "float8_e5m2": _narrow_float("uchar", 1, "small", ", 5, 2, 1"),
    "float16": _narrow_float("ushort", 2, "small", ", 5, 10, 1"),
    "bfloat16": _narrow_float("ushort", 2, "bfloat16"),
    "float32": _float("float", 4),
    "float64": _float("double", 8),
    "complex64": _complex("float", 8),
    "complex128": _complex("double", 16),
}
