"""The values law, and what it says of each operation."""

from __future__ import annotations

from conformance.judging.clause import Requirement
from conformance.judging.graphs.clause import GraphClause
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.graphs.values import bounded, settled
from conformance.judging.keyed_checks import about, right, way


def _legal(subject: GraphSubject) -> bool:
    return subject.legal and bool(subject.keys)


def _settled(subject: GraphSubject) -> bool:
    return subject.legal and any(settled(each) for each in subject.expected.values())


def _bounded(subject: GraphSubject) -> bool:
    return subject.legal and any(bounded(each) for each in subject.expected.values())


GENERAL = (
    GraphClause(
        "graph.C1",
        "must",
        "Every value that is asked for, and every buffer that is read, is given in the shape and the dtype of its "
        "node or buffer.",
        "tinygrad.lazy",
        _legal,
        way("form"),
        general=True,
    ),
    GraphClause(
        "graph.C2",
        "must",
        "Where only one value is right, its bits are given: those of evaluating the nodes one after "
        "the other in list order. The sign of a computed zero, the sign and the payload of a "
        "computed NaN, and what the number model flushes or saturates, are free.",
        "tinygrad.lazy; ieee754",
        _settled,
        way("bits"),
        general=True,
    ),
    GraphClause(
        "graph.C3",
        "must",
        "Folds that round in some order, results of operands that were rounded, functions, and products and "
        "quotients of complex numbers lie within the error bound around the real value: that of every order of "
        "sums and products, fused ones, and wider accumulation.",
        "opencl.accuracy; ieee754",
        _bounded,
        way("bound"),
        general=True,
    ),
)


def _operation(number: int, word: str, text: str, source: str, requirement: Requirement = "must") -> GraphClause:
    """Return the clause about values that are made of what a word stands for."""
    return GraphClause(f"graph.C{number}", requirement, text, source, about(word), right(word))


OPERATIONS = (
    _operation(
        6,
        "movement",
        "Reshape, permute, expand, shrink, stride and flip keep every bit of the elements that they take from their "
        "source, NaN payloads and signs of zeros included. A stride with a negative step takes the last element "
        "first.",
        "tinygrad.lazy: reshape, permute, expand, shrink, stride; stablehlo.operations: slice, transpose, reverse",
    ),
    _operation(
        7,
        "whole",
        "Integers wrap around; except by zero, an integer division truncates toward zero, and a "
        "remainder has the sign of the dividend. A sum of bools is their or, and a product of bools "
        "is their and; of a collective the rules of its operation hold.",
        "stablehlo.operations: add, multiply, divide, remainder; numpy.integers",
    ),
    _operation(
        8,
        "float",
        "An operation on floats that folds nothing and is no quotient, root or function rounds the "
        "exact result of its operands once, to nearest, ties to even, in larger kernels too, unless "
        "the number model flushes or saturates. `graph.C3` holds for operands that were rounded.",
        "ieee754: 4.3.1, 5.4.1",
    ),
    _operation(
        9,
        "compare",
        "A comparison gives bool. A NaN is unequal to every value, itself included, and less than none; zeros of "
        "both signs are equal.",
        "ieee754: 5.11; stablehlo.operations: compare",
    ),
    _operation(
        10,
        "choose",
        "where gives the bits of the value that is chosen, whatever the other value is.",
        "stablehlo.operations: select",
    ),
    _operation(
        11,
        "cast",
        "A conversion to a float rounds once, to nearest, ties to even; to an integer it truncates toward zero, "
        "where that fits; to bool it is whether the value is not zero; from complex it takes the real part. NaN "
        "and signs of zeros stay where dtypes have them.",
        "stablehlo.operations: convert; ieee754: 5.4.2",
    ),
    _operation(12, "bitcast", "A bitcast keeps every bit.", "stablehlo.operations: bitcast_convert"),
    _operation(
        13,
        "reduce",
        "A reduction folds every element along its axes exactly once, and no other element.",
        "stablehlo.operations: reduce",
    ),
    _operation(
        14,
        "gather",
        "A gather takes along its axis the elements that the indices number, with their bits; of "
        "indices outside the axis see `graph.C42`.",
        "stablehlo.operations: gather",
    ),
    _operation(
        15,
        "iota",
        "An iota has along its axis the numbers 0, 1, 2 and so on, converted to its dtype.",
        "stablehlo.operations: iota",
    ),
    _operation(
        16,
        "const",
        "A constant keeps its bits, also those of large integers, zeros of both signs and NaN payloads.",
        "tinygrad.lazy: const; stablehlo.operations: constant",
    ),
    _operation(
        17,
        "call",
        "A call gives what its function gives for its arguments, wherever the call stands.",
        "tinygrad.schedule; stablehlo.operations: composite",
    ),
    _operation(
        18,
        "keep",
        "A node that makes its source contiguous, or detaches it, has the value of its source.",
        "tinygrad.lazy: contiguous",
    ),
    _operation(
        19,
        "cross",
        "A value that is copied to a device, or received from other devices, has the bits that were sent.",
        "tinygrad.lazy: copy_to_device",
    ),
    _operation(
        20,
        "variable",
        "A variable has in the nodes of a round the value that the round gives it.",
        "tinygrad.schedule",
    ),
    _operation(
        21,
        "symbolic",
        "An extent that is a variable is as long as the value of the variable says, and elements beyond it show in "
        "no result.",
        "tinygrad.schedule",
    ),
    _operation(
        22,
        "pad",
        "A pad adds zeros, whatever is computed from its source before or together with it.",
        "tinygrad.lazy: pad; stablehlo.operations: pad",
    ),
    _operation(
        23,
        "promoted",
        "Operands of several dtypes are converted, before they are combined, to the least dtype that the "
        "promotion table has above all of them. A graph whose operands have no such dtype is malformed.",
        "jax.promotion",
    ),
    _operation(
        24,
        "extreme",
        "A maximum of numbers, none of them NaN, is the greatest of them, and a minimum the least; "
        "of zeros of both signs it is either.",
        "stablehlo.operations: maximum, minimum",
    ),
    _operation(
        25,
        "root",
        "A square root, quotient or reciprocal that is undefined is NaN, and one of zeros and "
        "infinities is as in IEEE 754. Where its exact value is a number of the dtype it is that "
        "number, or what multiplying by a rounded reciprocal gives.",
        "ieee754: 6, 7",
    ),
    _operation(
        26,
        "function",
        "exp2, log2 and sin are NaN where they are undefined. log2 of zero is minus infinity, exp2 of plus infinity "
        "is infinity and of minus infinity zero, exp2 of a zero is one, log2 of one is zero, and the sine of a zero is "
        "that zero.",
        "ieee754: 9.2.1",
    ),
    _operation(
        27, "empty", "A value without elements is given as an array without elements, in its shape.", "tinygrad.lazy"
    ),
    _operation(
        28,
        "empty_reduce",
        "A reduction of no elements is the identity of its operation in the dtype that it accumulates in, converted to "
        "its own: zero for a sum, one for a product, the least value of that dtype for a maximum and the greatest for "
        "a minimum.",
        "tinygrad.lazy; stablehlo.operations: reduce",
    ),
    _operation(
        29,
        "accumulator",
        "A reduction accumulates in the dtype that it names, of floats also in a wider one, and "
        "rounds once to its own dtype at the end.",
        "tinygrad.schedule; stablehlo.operations: reduce",
    ),
    _operation(
        30,
        "results",
        "Each of several results of a call is the value of its own node of the function.",
        "tinygrad.schedule",
    ),
)
