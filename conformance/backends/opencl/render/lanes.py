"""Operations on vectors of sixteen float32, lane by lane what the same operation gives for one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from conformance.backends.opencl.graph.node import Instruction
from conformance.cases.schedule.kernel_body import Alu, Reduce

INFIX: Final = {"add": "+", "sub": "-", "mul": "*"}
CALLS: Final = {"abs": "fabs", "neg": "-", "trunc": "trunc", "sqrt": "root16", "exp2": "power16"}
PAIRS: Final = {"max": "most16", "min": "least16", "div": "quotient16"}
"""Operations on vectors: signs, and functions of OpenCL or of the prelude."""


def known(line: Instruction) -> bool:
    """Return whether an operation or a fold is one on vectors."""
    if isinstance(line, Reduce):
        return line.op in INFIX or line.op in PAIRS
    return isinstance(line, Alu) and (line.op in INFIX or line.op in CALLS or line.op in PAIRS or line.op == "recip")


def lanewise(op: str, of: Sequence[str]) -> str:
    """Return an operation on vectors."""
    if op in INFIX:
        return f"({of[0]} {INFIX[op]} {of[1]})"
    if op in PAIRS:
        return f"{PAIRS[op]}({of[0]}, {of[1]})"
    return f"quotient16((float16)(1), {of[0]})" if op == "recip" else f"{CALLS[op]}({of[0]})"


FUNCTIONS: Final = """\
#ifdef EXACT_DIVISION
static float16 root16(float16 x) { return sqrt(x); }
static float16 quotient16(float16 a, float16 b) { return a / b; }
#else
static float16 root16(float16 x) { return convert_float16(sqrt(convert_double16(x))); }
static float16 quotient16(float16 a, float16 b) { return convert_float16(convert_double16(a) / convert_double16(b)); }
#endif
static float16 power16(float16 x) {
  float16 inner = x > 252.0f ? (float16)(252.0f) : x < -252.0f ? (float16)(-252.0f) : x;
  float16 sum = inner + 12582912.0f, rest = inner - (sum - 12582912.0f);
  int16 whole = as_int16(sum) - 0x4b400000, low = whole >> 1;
  return SERIES(float16, rest) * as_float16((low + 127) << 23) * as_float16((whole - low + 127) << 23);
}
static float16 most16(float16 a, float16 b) {
  return select(b, a, (a > b) | ((a == b) & (as_int16(a) >= 0)) | (a != a));
}
static float16 least16(float16 a, float16 b) {
  return select(b, a, (a < b) | ((a == b) & (as_int16(a) < 0)) | (a != a));
}
static float16 part16(__global const float* r, long at, long i, long low, long high) {
  float lanes[16];
  for (int u = 0; u < 16; ++u) lanes[u] = i + u >= low && i + u < high ? r[at + u] : 0.0f;
  return vload16(0, lanes);
}
static float16 spread16(float x, long i, long low, long high) {
  float lanes[16];
  for (int u = 0; u < 16; ++u) lanes[u] = i + u >= low && i + u < high ? x : 0.0f;
  return vload16(0, lanes);
}
static float16 low16(float16 a, float16 b) {
  return (float16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7);
}
static float16 high16(float16 a, float16 b) {
  return (float16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf);
}
static void mix16(float16* from, float16* to) {
  for (int i = 0; i < 8; ++i) { to[2 * i] = low16(from[i], from[i + 8]); to[2 * i + 1] = high16(from[i], from[i + 8]); }
}
static void turn16(float16* t) {
  float16 s[16];
  mix16(t, s); mix16(s, t); mix16(t, s); mix16(s, t);
}
"""
"""What kernels on vectors need besides: each function gives in every lane what its scalar counterpart gives.

``turn16`` exchanges rows and columns of sixteen vectors: taking turns of both halves four times does.
"""
