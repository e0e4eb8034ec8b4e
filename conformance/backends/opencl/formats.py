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
    sums and products are computed in, with ``widen`` (storage to arithmetic) and ``round`` (back) as C expressions of
    ``{x}``. ``ordered`` is the C type that is compared, with ``order`` (storage to ordered). ``nan`` says whether
    a value may be unordered.
    """

    storage: str
    itemsize: int
    arithmetic: str
    ordered: str
    widen: str = "{x}"
    round: str = "{x}"
    order: str = "{x}"
    nan: bool = False


def _integer(bits: int, signed: bool) -> Format:
    narrow = {8: "char", 16: "short", 32: "int", 64: "long"}[bits]
    storage = narrow if signed else f"u{narrow}"
    # Narrow types are computed in uint, for the usual promotion to int would overflow: 65535 * 65535.
    arithmetic = "ulong" if bits == 64 else "uint"
    return Format(
        storage, bits // 8, arithmetic, storage, widen=f"(({arithmetic}){{x}})", round=f"({storage})(u{narrow})({{x}})"
    )


_BFLOAT16: Final = Format(
    "ushort",
    2,
    "float",
    "float",
    widen="widen_bfloat16({x})",
    round="round_bfloat16({x})",
    order="widen_bfloat16({x})",
    nan=True,
)

FORMATS: Final[dict[str, Format]] = {
    # Any non-zero byte is true, so every load says so; a result is 0 or 1.
    "bool": Format(
        "uchar", 1, "uint", "uchar", widen="(uint)({x} != 0)", round="(uchar)({x} != 0)", order="(uchar)({x} != 0)"
    ),
    "int32": _integer(32, signed=True),
    "uint8": _integer(8, signed=False),
    "bfloat16": _BFLOAT16,
    "float32": Format("float", 4, "float", "float", nan=True),
    "float64": Format("double", 8, "double", "double", nan=True),
}

PRELUDE: Final = """\
#pragma OPENCL FP_CONTRACT OFF
static float widen_bfloat16(ushort x) { return as_float((uint)x << 16); }
static ushort round_bfloat16(float x) {
  uint bits = as_uint(x);
  if (x != x) return (ushort)((bits >> 16 & 0x8000u) | 0x7fc0u);
  return (ushort)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
static long place(ulong i, long axes, __global const long* extents, __global const long* access) {
  long at = access[1];
  for (long d = axes - 1; d > 0; --d) { at += (long)(i % (ulong)extents[d]) * access[d + 2]; i /= (ulong)extents[d]; }
  return axes > 0 ? at + (long)i * access[2] : at;
}
"""
"""Contraction would fuse a product and a sum into one rounding; bfloat16 rounds to nearest, ties to even."""
