"""The OpenCL C functions that the program begins with."""

from __future__ import annotations

from typing import Final

PRELUDE: Final = """\
#pragma OPENCL FP_CONTRACT OFF
static float odd(double x) {
  float inner = convert_float_rtz(x);
  return as_float(as_uint(inner) | (uint)((double)inner != x));
}
static float widen_bfloat16(ushort x) { return as_float((uint)x << 16); }
static ushort round_bfloat16(float x) {
  uint bits = as_uint(x);
  if (x != x) return (ushort)((bits >> 16 & 0x8000u) | 0x7fc0u);
  return (ushort)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
static float widen_small(uint x, int exponent, int mantissa, int bias, uint most) {
  uint sign = x >> (exponent + mantissa) << 31, size = x & ((1u << (exponent + mantissa)) - 1u);
  uint field = size >> mantissa, low = size & ((1u << mantissa) - 1u);
  if (field == 0) return as_float(as_uint((float)low * as_float((uint)(128 - bias - mantissa) << 23)) | sign);
  if (size > most) return as_float(sign | 0x7f800000u | low << (23 - mantissa));
  return as_float(sign | (field + 127 - bias) << 23 | low << (23 - mantissa));
}
static uint round_small(float x, int exponent, int mantissa, int bias, uint past, uint nan) {
  uint bits = as_uint(x), sign = bits >> 31 << (exponent + mantissa), size = bits & 0x7fffffffu;
  if (x != x) return sign | nan;
  if (size >= 0x7f800000u) return sign | past;
  if (size < (uint)(128 - bias) << 23)
    return sign | (uint)rint(as_float(size) * as_float((uint)(126 + bias + mantissa) << 23));
  size += (1u << (22 - mantissa)) - 1u + (size >> (23 - mantissa) & 1u);
  uint code = (size >> (23 - mantissa)) - ((uint)(127 - bias) << mantissa);
  return sign | min(code, past);
}
static float widen_unsigned_zero(uint x, int exponent, int mantissa, int bias) {
  return x == 0x80u ? as_float(0x7fc00000u) : widen_small(x, exponent, mantissa, bias, 0x7fu);
}
static uint round_unsigned_zero(float x, int exponent, int mantissa, int bias) {
  uint code = round_small(fabs(x), exponent, mantissa, bias, 0x80u, 0x80u) & 0xffu;
  return code == 0 || code == 0x80u ? code : code | as_uint(x) >> 31 << 7;
}
static float widen_power(uint x) {
  return as_float(x == 255u ? 0x7fc00000u : x == 0 ? 0x400000u : x << 23);
}
static uint round_power(float x) {
  uint bits = as_uint(x);
  if (bits - 1u >= 0x7f7fffffu) return 255u;
  return bits < 0x800000u ? bits >= 0x600000u : (bits + 0x400000u) >> 23;
}
#define COMPLEX(real) \\
  static real##2 times_##real##2(real##2 a, real##2 b) { \\
    return (real##2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); } \\
  static real##2 quotient_##real##2(real##2 a, real##2 b) { \\
    return (real##2)((real)((double)a.x / (double)b.x), (real)((double)a.y / (double)b.x)); } \\
  static int unordered_##real##2(real##2 a) { return a.x != a.x || a.y != a.y; } \\
  static int after_##real##2(real##2 a, real##2 b) { \\
    return (a.x > b.x && a.y == a.y && b.y == b.y) || (a.x == b.x && a.y >= b.y); }
COMPLEX(float)
COMPLEX(double)
static long place(ulong i, long axes, __global const long* extents, __global const long* strides) {
  long at = 0;
  for (long d = axes - 1; d > 0; --d) { at += (long)(i % (ulong)extents[d]) * strides[d]; i /= (ulong)extents[d]; }
  return axes > 0 ? at + (long)i * strides[0] : at;
}
"""
"""Contraction would fuse a product and a sum into one rounding. The small formats have an exponent, with a bias, and a
mantissa of so many bits; ``most`` is the code of the greatest number, ``past`` of what lies past it. They and bfloat16
round to nearest, ties to even. Those with an unsigned zero have NaN where others have -0.0, and for all that lies past.
Powers of two have neither sign nor zero: halfway goes up, and what is no positive number is NaN. ``odd`` keeps of a
double all that a later rounding to one of them asks of it. Complex numbers are ordered by real, then imaginary part.
``place`` is the storage element of the ``i``-th element of a view."""


ELEMENTWISE: Final = """\
#ifdef EXACT_DIVISION
static float root_float(float x) { return sqrt(x); }
static float quotient_float(float a, float b) { return a / b; }
#else
static float root_float(float x) { return (float)sqrt((double)x); }
static float quotient_float(float a, float b) { return (float)((double)a / (double)b); }
#endif
static double root_double(double x) { return sqrt(x); }
static double power_double(double x) {
  return x == rint(x) && fabs(x) < 2000.0 ? ldexp(1.0, (int)x) : exp2(x);
}
#define SERIES(real, r) \\
  fma(r, fma(r, fma(r, fma(r, fma(r, fma(r, (real)(0x1.41fb9ep-13f), (real)(0x1.5f3e8p-10f)), \\
    (real)(0x1.3b2d4ep-7f)), (real)(0x1.c6aee8p-5f)), (real)(0x1.ebfbdcp-3f)), (real)(0x1.62e43p-1f)), (real)(1.0f))
static float power_float(float x) {
  float inner = x > 252.0f ? 252.0f : x < -252.0f ? -252.0f : x;
  float sum = inner + 12582912.0f, rest = inner - (sum - 12582912.0f);
  int whole = as_int(sum) - 0x4b400000, low = whole >> 1;
  return SERIES(float, rest) * as_float((low + 127) << 23) * as_float((whole - low + 127) << 23);
}
static double logarithm_double(double x) {
  ulong bits = as_ulong(x);
  if (x > 0 && !isinf(x) && (bits & 0xffffffffffffful) == 0 && bits >> 52) return (double)((int)(bits >> 52) - 1023);
  return log2(x);
}
static float logarithm_float(float x) { return (float)logarithm_double((double)x); }
static float sine_float(float x) { return sin(x); }
static double sine_double(double x) { return sin(x); }
#define RATIO(real) \\
  static real##2 ratio_##real##2(real##2 a, real##2 b) { \\
    real size_x = fabs(b.x), size_y = fabs(b.y); \\
    if (size_x >= size_y) { \\
      if (size_x == 0 && size_y == 0) return (real##2)(a.x / size_x, a.y / size_x); \\
      real r = b.y / b.x, s = (real)1 / (b.x + b.y * r); \\
      return (real##2)((a.x + a.y * r) * s, (a.y - a.x * r) * s); } \\
    real r = b.x / b.y, s = (real)1 / (b.y + b.x * r); \\
    return (real##2)((a.x * r + a.y) * s, (a.y * r - a.x) * s); }
RATIO(float)
RATIO(double)
"""
"""What fused kernels need besides: roots, powers and logarithms of powers of two that are exact on every device, and
complex quotients by Smith's method, as NumPy makes them. ``power_float`` adds a number whose last bit is worth 1, to
find the nearest whole one; ``SERIES`` is the polynomial in ``r`` that is least far from 2**r, relatively, for r from
-1/2 to 1/2, of those that are 1 at 0."""


PAST: Final = """\
#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define PAST(value, place) __builtin_nontemporal_store(value, place)
#endif
#endif
#ifndef PAST
#define PAST(value, place) *(place) = (value)
#endif
"""
"""How a vector is stored past the caches, where the compiler knows how, at a place that is a multiple of its size."""
