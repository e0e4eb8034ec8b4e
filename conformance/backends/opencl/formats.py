"""How each dtype is stored, computed with and rounded: one row a dtype, and the OpenCL C its rows stand for.

Arithmetic is load, widen, operate, round, after every operation: the accumulator is always in storage form, so
no result ever depends on how operations were fused. Signed integers add and multiply as unsigned ones, for
signed overflow is undefined and compilers use that. Selections (max, min) return an operand's own bits, save that a
NaN that signals may become quiet: Intel's compiler makes it so on processors without AVX-512.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True)
class Format:
    """One dtype.

    ``storage`` is the C type of an element in memory, ``itemsize`` its bytes. ``arithmetic`` is the C type that
    sums and products are computed in, with ``widen`` (storage to arithmetic) and ``round`` (back) as C expressions
    of ``{x}``; ``order`` is what is compared. ``multiply``, ``greater`` and ``less`` combine ``{a}`` and ``{b}``, and
    ``unordered`` says whether ``{a}`` is NaN, which then wins max and min (empty: never). Where neither operand wins
    the later one stays. ``scalar`` is the storage form of a number whose bits are the ``long`` ``{x}``, and ``divide``
    the quotient, rounded once to arithmetic ``{real}``: in double, for a quotient of floats is then correctly rounded
    on every device whose compiler leaves it in double; of others the runtime asks for exact division. That of a narrow
    float, whose divisor is a double, is rounded to odd, so that ``round`` rounds it as if for the first time.
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


def _few(bits: int, *, signed: bool) -> Format:
    """An integer of the lowest bits of a byte, of which the others are zero."""
    order = f"((char)({{x}} << {8 - bits}) >> {8 - bits})" if signed else "{x}"
    rounded = f"((uchar)(({{x}}) & {(1 << bits) - 1}u))"
    return Format("uchar", 1, "uint", widen="((uint){x})", round=rounded, order=order)


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


def _narrow_float(storage: str, itemsize: int, kind: str, widening: str = "", rounding: str | None = None) -> Format:
    """A float that is computed as float32 and rounded by a function of the prelude, each with further arguments."""
    widen = f"widen_{kind}({{x}}{widening})"
    round_ = f"(({storage})round_{kind}({{x}}{widening if rounding is None else rounding}))"
    divide = "odd((double){a} / {b})"
    more = {"unordered": "{a} != {a}", "scalar": f"(({storage}){{x}})", "divide": divide, **_selects("int")}
    return Format(storage, itemsize, "float", widen, round_, widen, **more)


def _small(exponent: int, mantissa: int, *, past: Literal["infinity", "nan", "greatest"] = "infinity") -> Format:
    """A float of a sign, an exponent and a mantissa of so many bits; ``past`` is what lies past the greatest number.

    One without infinity has NaN at the end of its codes, or, where all are numbers, gives -0.0 for it, as ml_dtypes.
    """
    size = exponent + mantissa
    top, bias = (1 << size) - 1, (1 << (exponent - 1)) - 1
    infinity = top >> mantissa << mantissa
    most, beyond, nan = {
        "infinity": (infinity - 1, infinity, infinity | 1 << (mantissa - 1)),
        "nan": (top - 1, top, top),
        "greatest": (top, top, top + 1),
    }[past]
    storage, itemsize = ("ushort", 2) if size > 7 else ("uchar", 1)
    parts = f", {exponent}, {mantissa}, {bias}"
    return _narrow_float(storage, itemsize, "small", f"{parts}, {most:#x}u", f"{parts}, {beyond:#x}u, {nan:#x}u")


def _unsigned_zero(exponent: int, mantissa: int, bias: int) -> Format:
    """A float of 8 bits whose one NaN is what would be -0.0."""
    return _narrow_float("uchar", 1, "unsigned_zero", f", {exponent}, {mantissa}, {bias}")


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
    "int4": _few(4, signed=True),
    "int8": _integer(8, signed=True),
    "int16": _integer(16, signed=True),
    "int32": _integer(32, signed=True),
    "int64": _integer(64, signed=True),
    "uint4": _few(4, signed=False),
    "uint8": _integer(8, signed=False),
    "uint16": _integer(16, signed=False),
    "uint32": _integer(32, signed=False),
    "uint64": _integer(64, signed=False),
    "float8_e4m3fn": _small(4, 3, past="nan"),
    "float8_e5m2": _small(5, 2),
    "float16": _small(5, 10),
    "bfloat16": _narrow_float("ushort", 2, "bfloat16"),
    "float32": _float("float", 4),
    "float64": _float("double", 8),
    "complex64": _complex("float", 8),
    "complex128": _complex("double", 16),
    "int2": _few(2, signed=True),
    "uint2": _few(2, signed=False),
    "float8_e3m4": _small(3, 4),
    "float8_e4m3": _small(4, 3),
    "float8_e4m3b11fnuz": _unsigned_zero(4, 3, bias=11),
    "float8_e4m3fnuz": _unsigned_zero(4, 3, bias=8),
    "float8_e5m2fnuz": _unsigned_zero(5, 2, bias=16),
    "float8_e8m0fnu": _narrow_float("uchar", 1, "power"),
    "float6_e2m3fn": _small(2, 3, past="greatest"),
    "float6_e3m2fn": _small(3, 2, past="greatest"),
    "float4_e2m1fn": _small(2, 1, past="greatest"),
}
