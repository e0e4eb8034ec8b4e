"""Topics about numbers: rounding, order, dtypes, what is no number, and bits that agree."""

from __future__ import annotations

from typing import Final

from conformance.specification.topics.topic import topic

_PAGE: Final = "numerics.md"

NUMBERS: Final = (
    topic(
        "order of additions",
        "kahan summation, compensated summation, rounding mode, round half to even, stochastic rounding, reduction "
        "order, summation order, floating point order, associativity, tree, ring order, different result, "
        "not associative, tolerance, allclose, rounding",
        "Any binary tree over the terms, in any order, is right, in the number model that the implementation declares. "
        "There is no tolerance: each element is held against all these trees, or against a bound that is proved. "
        "Rounding is "
        "to nearest, ties to even; no number model has another, such as stochastic rounding.",
        "numerics.C1 numerics.C2 numerics.C4",
        _PAGE,
    ),
    topic(
        "accumulation dtype",
        "accumulate, accumulation, bfloat16, float16, bf16, fp16, accumulate in fp32, bf16 accumulation, fp16 "
        "accumulation, "
        "wide accumulator, intermediate "
        "precision, "
        "upcast, mixed precision, partial sums, wire precision",
        "By default in the dtype of the terms. An implementation that accumulates in another dtype, or rounds what is "
        "sent to another, declares it (`accumulate`, `between`), and either is right. A reduce of a graph names its "
        "accumulator.",
        "numerics.C1 graph.C29 splits.C2 splits.C4",
        _PAGE,
    ),
    topic(
        "determinism",
        "same bits for different world size, number of ranks changes result, history of calls, earlier calls, "
        "number of communicators, depends on history, reproducible, "
        "reproducibility, bitwise, bit-exact, run to run, nondeterministic, same bits, identical results",
        "No clause demands one order, so that bits can differ with the size of the message, the number of ranks or the "
        "algorithm. An implementation that promises more gives a guarantee, and is held to its clause: the same bits "
        "when a call is made once more are determinism.C8, the same bits on all ranks determinism.C1. MPI "
        "recommends the "
        "same result whenever the same arguments are given in the same order.",
        "determinism.C1 determinism.C2 determinism.C4 determinism.C5 determinism.C7 determinism.C8",
    ),
    topic(
        "ranks agree",
        "same result on all ranks, ranks differ, replicas diverge, all_reduce differs between ranks, bitwise "
        "identical on all ranks",
        "That all members receive the same bits from an all_reduce is a guarantee, determinism.C1 (*may*): a backend "
        "that gives it is held to it. MPI demands it of MPI_Allreduce. Where types say that a value is invariant it is "
        "a *must*, and so it is for replicas. The same bits from one run to the next are determinism.C8.",
        "determinism.C1 determinism.C8 types.C13 sharded.C3",
    ),
    topic(
        "bits and message size",
        "batch invariance, chunk size, message size, bucket size, splitting a tensor, padding changes result",
        "That an element's bits do not depend on the size of the block, nor on its place in it, are "
        "guarantees (*may*).",
        "determinism.C2 determinism.C3 determinism.C6",
    ),
    topic(
        "NaN",
        "argmax of NaN, argmax NaN, nan, not a number, propagate nan, nan in max, fmax, isnan, nan payload, "
        "signalling nan",
        "A NaN among the terms of a sum or product makes the element NaN. max and min should give NaN; JAX on CPUs, "
        "gloo and MPICH can drop it. Moves keep NaN payloads.",
        "numerics.C5 reduction.C20 collective.C18 arg_reduce.C5 graph.C37 sharded.C38",
    ),
    topic(
        "infinity",
        "overflow, fp8 overflow, float8 overflow, e4m3 overflow, inf, infinities, overflow to inf, inf minus inf, "
        "overflow of "
        "floats, fp16 overflow, float16 "
        "overflow, saturate, saturation",
        "A result that every order takes past the greatest number is an infinity, unless the number model "
        "saturates; in "
        "float8_e4m3fn it is NaN. Where some orders overflow, the result of one of the orders is right. The same "
        "holds of "
        "conversions: see the topic *conversion past the greatest number*.",
        "numerics.C8 numerics.C9 numerics.C14 numerics.C15 numerics.C17 numerics.C18 graph.C11",
        _PAGE,
    ),
    topic(
        "conversion past the greatest number",
        "conversion to float8, cast to float8, cast to fp8, cast to float16 overflow, beyond 448, above 448, 448, "
        "57344, "
        "65504, cast overflow, conversion overflow, saturating cast, saturating conversion, overflow of a conversion, "
        "float8_e4m3fn, float8_e5m2, float8_e4m3fn overflow, float8_e5m2 overflow, convert to fp8, quantize to fp8, "
        "out of range of float8",
        "A number that rounds past the greatest one of a float dtype becomes an infinity, unless the number model says "
        "`saturated`: then it becomes the greatest number. Into 8 bits both are right, whatever the model says "
        "(graph.C11). The reference gives NaN in float8_e4m3fn, which has no infinity (464 becomes 448, 465 NaN), "
        "and an "
        "infinity in float8_e5m2. So do JAX and ml_dtypes; tinygrad saturates in both, to 448 and 57344, and Torch "
        "2.13 in "
        "float8_e4m3fn alone. In float16 all three give an infinity past 65504. Of sums and products in float8_e4m3fn "
        "see numerics.C15: NaN, unless the number model saturates.",
        "graph.C11 graph.C2 graph.C8 numerics.C14 numerics.C15",
    ),
    topic(
        "integer overflow",
        "overflow, wraparound, uint8 wraparound, wrap around, int8 overflow, int32 overflow, overflow of integers, "
        "modular "
        "arithmetic, uint8 sum",
        "Sums and products of integers wrap around at the width of their dtype; nothing is widened.",
        "reduction.C12 graph.C7 reduce_constant.C2",
    ),
    topic(
        "mean",
        "AVG, mean of bfloat16, bfloat16 mean, average bfloat16, mean overflow float16, premultiply, pre-multiply, "
        "reciprocal, multiply by 1/n, average, pmean, DDP, "
        "division by world size, loss averaging, divide before sum, pre-division, "
        "gradient averaging, AVG overflow",
        "The sum divided by the number of terms, once. That the sum overflows first is right, and so is scaling terms "
        "first, where the number model declares it. Of integers see the topic *mean of integers*.",
        "reduction.C9 reduction.C10 numerics.C2 numerics.C16",
        _PAGE,
    ),
    topic(
        "mean of integers",
        "AVG, average of integers, pmean int, integer average, truncation, rounding of means, ReduceOp.AVG int",
        "The wrapped sum divided by the number of terms. float64 is recommended; in whatever dtype it is given, the "
        "quotient is rounded to it, or truncated to an integer: both are right. Torch over gloo raises, JAX "
        "gives float32.",
        "reduction.C13 reduction.C22 reduction.C9",
    ),
    topic(
        "sum of bools",
        "bool all_reduce, logical or, any across ranks, count true, boolean reduction",
        "Counts in int32 (*should*); their or, in every element, is right as well.",
        "reduction.C11 reduction.C21 reduction.C19",
    ),
    topic(
        "complex numbers",
        "complex64, complex128, complex reduction, complex max, complex product, conjugate",
        "Sums are of the parts, products the complex product. max and min should be rejected, for complex "
        "numbers have no "
        "order. The transpose of a product does not conjugate.",
        "reduction.C16 reduction.C18 numerics.C22 numerics.C24 transposes.C21",
    ),
    topic(
        "signed zeros",
        "maximum of -0.0 and 0.0, max of zeros, 0.0 and -0.0, negative zero, -0.0, -0, zero, sign of zero, minus zero, "
        "sum of negative zeros, psum of -0.0",
        "Moves keep the sign. A sum of nothing but -0.0 should be -0.0, where JAX's psum on CPUs gives +0.0; of "
        "zeros of "
        "both signs it is +0.0. max should give +0.0 of both.",
        "collective.C18 numerics.C6 numerics.C7 numerics.C21 sharded.C37 graph.C38",
    ),
    topic(
        "subnormal numbers",
        "float16 denormals, denormal float16, denormals, denormal, subnormals, flush to zero, FTZ, DAZ, underflow",
        "Kept, unless the number model flushes them.",
        "numerics.C12 numerics.C13",
        _PAGE,
    ),
    topic(
        "small dtypes",
        "half precision, low precision, float8, fp8, e4m3, e5m2, int4, uint4, float4, fp4, e8m0, bf16, fp16, "
        "half, 8-bit, quantized",
        "Every dtype of the table can be moved bit for bit, and those that are numbers reduced, rounding to their own "
        "format after each operation or in a declared accumulator.",
        "collective.C18 numerics.C14 numerics.C15 graph.C8 permute.C2",
    ),
    topic(
        "premultiplied sum",
        "PREMUL_SUM, scale before sum, gradient predivide, factor",
        "Each term times a real factor, rounded or fused, then a sum.",
        "reduction.C8 numerics.C3 numerics.C19 reduction.C17",
    ),
    topic(
        "bitwise reductions",
        "BAND of floats, bitwise and of floats, BAND, BOR, BXOR, and, or, xor, bitwise and, bitwise or, LAND, LOR",
        "and, or and xor work on bits, of integers and bools alone.",
        "reduction.C5 reduction.C6 reduction.C7 reduction.C15",
    ),
    topic(
        "conversion",
        "cast to int, astype, convert, float to int, truncate, round to nearest, out of range cast, nan to "
        "int, bitcast",
        "To nearest for floats, toward zero for integers. Nothing is said of a float that the integer dtype "
        "cannot hold, "
        "NaN among them: any value is right.",
        "graph.C11 graph.C12 sharded.C33",
    ),
    topic(
        "promotion",
        "type promotion, mixed dtypes, dtype of result, result_type, promote_types, weak types, uint64 and int64, "
        "uint64 plus int, int + float, float16 plus int32, signed and unsigned",
        "Operands are converted to the least dtype that the promotion table has above all of them: float16 with int32 "
        "is float16. uint64 with a signed integer, and float8 or int4 with others, have none: a graph that has them is "
        "malformed. There JAX, NumPy and tinygrad give a float, and Torch raises.",
        "graph.C23",
    ),
    topic(
        "division by zero",
        "divide by zero, x/0, 0/0, integer division by zero, reciprocal of zero, sqrt of negative, log of zero",
        "Of floats as in IEEE 754. Nothing is said of integers divided by zero.",
        "graph.C25 graph.C26 graph.C7",
    ),
    topic(
        "integer division",
        "floor division, //, truncating division, modulo, remainder, %, negative remainder",
        "div truncates toward zero and mod has the sign of the dividend, as in C. Python's and tinygrad's `//` and `%` "
        "round toward minus infinity.",
        "graph.C7",
    ),
    topic(
        "fused multiply-add",
        "fma, contraction, fp-contract, excess precision, xla_allow_excess_precision, fast math, intermediate rounding",
        "A product and a sum can be rounded together in folds and where operands were rounded (the error bound admits "
        "it). An operation on exact operands rounds once to its own dtype, also in a larger kernel.",
        "graph.C3 graph.C8 numerics.C3",
    ),
    topic(
        "accuracy of functions",
        "exp, log, sin, ulp, transcendental, sqrt accuracy, fast exp, approximate",
        "exp2, log2 and sin have an error bound; within 3 or 4 units in the last place is recommended. Roots, "
        "quotients "
        "and reciprocals should be correctly rounded.",
        "graph.C26 graph.C39 graph.C40 graph.C3",
    ),
    topic(
        "comparisons",
        "NaN != NaN, nan equal nan, equality, less than, greater, cmplt, cmpne, compare zeros, isnan, where with nan",
        "A comparison gives bool. A NaN is unequal to everything, itself included, and less than nothing; zeros of "
        "both "
        "signs are equal. where takes the chosen value bit for bit, whatever the other is.",
        "graph.C9 graph.C10",
    ),
    topic(
        "simplifications",
        "x*0, x-x, x/x, x+0, constant folding, algebraic simplification, fast math rewrite",
        "A rewrite that changes a value is wrong: x*0 is NaN where x is NaN or infinite, x-x is NaN there, "
        "and x/x is NaN "
        "where x is zero.",
        "graph.C2 graph.C8 graph.C25 law.C1",
    ),
    topic(
        "shifts and indices out of range",
        "shift by width, shl, shr, out of bounds gather, index clamp, index out of range",
        "Implementations differ, and all are right: 0 or -1 for shifts, the nearest index for gathers, are "
        "what is reported.",
        "graph.C41 graph.C42",
    ),
)
