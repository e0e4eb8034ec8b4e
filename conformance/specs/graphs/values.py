"""The values law, and what it says of each operation."""

from __future__ import annotations

from conformance.judging.clause import Requirement
from conformance.judging.graphs.clause import GraphClause, GraphDivergence
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.graphs.values import bounded, settled
from conformance.judging.keyed_checks import about, right, way
from conformance.specs.graphs.divergences import FOLDED, NORMALIZED


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
        "Where only one value is right, its bits are given: those of evaluating the nodes one after the other in "
        "list order. The sign of a computed zero, the sign and the payload of a computed NaN, and elements that a "
        "choice of the number model can change, are free.",
        "tinygrad.lazy; ieee754",
        _settled,
        way("bits"),
        general=True,
    ),
    GraphClause(
        "graph.C3",
        "must",
        "Folds that round in some order, results of operands that were rounded, quotients, roots, functions, and "
        "products of complex numbers are no further from the exact value than the error bound, which covers every "
        "order of sums and products, fused ones, and wider accumulation.",
        "opencl.accuracy; ieee754",
        _bounded,
        way("bound"),
        general=True,
    ),
)


def _operation(
    number: int, word: str, text: str, source: str, *diverges: GraphDivergence, requirement: Requirement = "must"
) -> GraphClause:
    """Return the clause about values that are made of what a word stands for."""
    return GraphClause(f"graph.C{number}", requirement, text, source, about(word), right(word), diverges=diverges)


OPERATIONS = (
    _operation(
        6,
        "movement",
        "Reshape, permute, expand, shrink, stride and flip keep every bit of the elements that they take from "
        "their source, NaN payloads and signs of zeros included where these were not computed. A stride with a "
        "negative step takes the last element first.",
        "tinygrad.lazy: reshape, permute, expand, shrink, stride; stablehlo.operations: slice, transpose, reverse",
        NORMALIZED,
    ),
    _operation(
        7,
        "whole",
        "Integers wrap around. Except by zero, and of the least number by -1, an integer division truncates "
        "toward zero, and a remainder has the sign of the dividend. A sum of bools is their or, a product of "
        "bools their and. In a collective the rules of its operation hold.",
        "stablehlo.operations: add, multiply, divide, remainder; numpy.integers",
    ),
    _operation(
        8,
        "float",
        "An operation on floats that folds nothing and is no quotient, root or function rounds its exact result "
        "once, to nearest, ties to even. Excepted are operands that were rounded or are sums or products "
        "(`graph.C3`), remainders by a rounded quotient, overflow of 8 bits, and the number model's choices.",
        "ieee754: 4.3.1, 5.4.1",
        FOLDED,
    ),
    _operation(
        9,
        "compare",
        "A comparison gives bool. A NaN is equal to no value, itself included; it is less than none, and none is "
        "less than it. Zeros of both signs are equal, and neither is less.",
        "ieee754: 5.11; stablehlo.operations: compare",
    ),
    _operation(
        10,
        "choose",
        "where gives the bits of the element that is chosen, converted where `graph.C23` converts it, whatever "
        "the other element is.",
        "stablehlo.operations: select",
        NORMALIZED,
    ),
    _operation(
        11,
        "cast",
        "A conversion to float rounds to nearest, ties to even (to 16 bits perhaps twice), unless the number model "
        "flushes or saturates; NaNs and signs of zeros stay; overflow and NaN of 8 bits are free. Floats to integers "
        "truncate, integers wrap. Bool is not-zero. Complex gives the real part.",
        "stablehlo.operations: convert; ieee754: 5.4.2",
    ),
    _operation(
        12,
        "bitcast",
        "A bitcast keeps every bit. Nothing is asked of elements whose source has several "
        "right values, such as a computed zero of either sign.",
        "stablehlo.operations: bitcast_convert",
    ),
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
        "A call gives what the nodes of its function give for the arguments when they are evaluated in the place "
        "of the call.",
        "tinygrad.schedule; stablehlo.operations: composite",
    ),
    _operation(
        18,
        "keep",
        "A contig has the value that its source has when the contig is listed. A detach has the value of its source.",
        "tinygrad.lazy: contiguous",
    ),
    _operation(
        19,
        "cross",
        "A copy has the bits of its source, on the device of the copy. A collective gives the device of its node "
        "what its operation gives that member for the values of all members.",
        "tinygrad.lazy: copy_to_device",
    ),
    _operation(
        20,
        "variable",
        "A variable has, in the nodes that a round lists, the value that the round gives it.",
        "tinygrad.schedule",
    ),
    _operation(
        21,
        "symbolic",
        "An extent that is a variable is, in the nodes that a round lists, the value that the round gives the "
        "variable. Elements of storage beyond it show in no result.",
        "tinygrad.schedule",
    ),
    _operation(
        22,
        "pad",
        "A pad adds zeros, of floats +0, whatever is computed from its source before or together with it.",
        "tinygrad.lazy: pad; stablehlo.operations: pad",
        NORMALIZED,
    ),
    _operation(
        23,
        "promoted",
        "Operands of several dtypes, the condition of a where apart, are converted before they are combined, to "
        "the least dtype that the promotion table has above all of them. A graph whose operands have no such "
        "dtype is malformed.",
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
        "An undefined square root, quotient or reciprocal of floats is NaN, one of zeros and infinities is as in "
        "IEEE 754, and one whose exact value the dtype has is that, or what multiplying by a rounded reciprocal "
        "gives. Formats of 8 bits and computed zero divisors are excepted.",
        "ieee754: 6, 7",
        FOLDED,
    ),
    _operation(
        26,
        "function",
        "exp2, log2 and sin are NaN where undefined, and log2 of zero is minus infinity, which are free in 8 "
        "bits. exp2 of plus infinity is infinity, of minus infinity zero, and of a zero one; log2 of one is zero, "
        "and so is the sine of a zero.",
        "ieee754: 9.2.1",
    ),
    _operation(
        27, "empty", "A value without elements is given as an array without elements, in its shape.", "tinygrad.lazy"
    ),
    _operation(
        28,
        "empty_reduce",
        "A reduction of no elements is the identity of its operation in the dtype that it accumulates in, "
        "converted to its own: zero for a sum, or and xor, one for a product, all bits set for and, the least "
        "value for a maximum, the greatest for a minimum.",
        "tinygrad.lazy; stablehlo.operations: reduce",
    ),
    _operation(
        29,
        "accumulator",
        "A reduction accumulates in the dtype that it names, of floats also in a wider one, and converts to its "
        "own dtype once, at the end.",
        "tinygrad.schedule; stablehlo.operations: reduce",
    ),
    _operation(
        30,
        "results",
        "Each of several results of a call is the value of its own node of the function.",
        "tinygrad.schedule",
    ),
)
