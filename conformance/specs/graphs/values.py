"""The values law, and what it says of each operation."""

from __future__ import annotations

from conformance.judging.clause import Requirement
from conformance.judging.graphs.clause import GraphClause, GraphDivergence
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.graphs.values import bounded, one_right
from conformance.judging.keyed_checks import about, right, way
from conformance.specs.graphs.divergences import FOLDED, NORMALIZED


def _legal(subject: GraphSubject) -> bool:
    return subject.legal and bool(subject.keys)


def _settled(subject: GraphSubject) -> bool:
    return subject.legal and any(one_right(each) for each in subject.expected.values())


def _bounded(subject: GraphSubject) -> bool:
    return subject.legal and any(bounded(each) for each in subject.expected.values())


GENERAL = (
    GraphClause(
        "graph.C1",
        "must",
        "Every value that is asked for, and every buffer that is read, is given in the shape and the dtype of its "
        "node or buffer. Where a gather takes an index outside its axis, or one of which several values are right, an "
        "error is as right.",
        "tinygrad.lazy",
        _legal,
        way("form"),
        general=True,
    ),
    GraphClause(
        "graph.C2",
        "must",
        "Elements with one right value have its bits: those of evaluating the nodes one after the other in list "
        "order. Free are signs of computed zeros, signs and payloads of computed NaNs, maxima and minima beside a NaN "
        "(`graph.C37`), and elements that a choice of the number model can change.",
        "tinygrad.lazy; ieee754",
        _settled,
        way("bits"),
        general=True,
    ),
    GraphClause(
        "graph.C3",
        "must",
        "Folds that round in some order, results of rounded operands, quotients, roots, functions, and products of "
        "complex numbers are within the error bound of the exact value, so within twice that of list order's. The "
        "bound covers every order of sums and products, fused ones and wider accumulation.",
        "opencl.accuracy; ieee754",
        _bounded,
        way("bound"),
        general=True,
    ),
)


def _operation(
    id: str, word: str, text: str, source: str, *diverges: GraphDivergence, requirement: Requirement = "must"
) -> GraphClause:
    """Return the clause about values that are made of what a word stands for."""
    return GraphClause(id, requirement, text, source, about(word), right(word), diverges=diverges)


OPERATIONS = (
    _operation(
        "graph.C6",
        "movement",
        "Reshape, permute, expand, shrink, stride and flip keep every bit of the elements that they take from "
        "their source, NaN payloads and signs of zeros included where these were not computed. A stride with a "
        "negative step takes the last element first.",
        "tinygrad.lazy: reshape, permute, expand, shrink, stride; stablehlo.operations: slice, transpose, reverse",
        NORMALIZED,
    ),
    _operation(
        "graph.C7",
        "whole",
        "Integers wrap around in elementwise operations and folds. Integer division truncates toward zero, and a "
        "remainder has the sign of the dividend; by zero, and of the least number by -1, both are free. A sum of "
        "bools is their or, a product their and; collectives keep their operation's rules.",
        "stablehlo.operations: add, multiply, divide, remainder; numpy.integers",
    ),
    _operation(
        "graph.C8",
        "float",
        "An elementwise operation on floats that is no quotient, root or function rounds its exact result once, to "
        "nearest, ties to even. Excepted are sums and products of operands that were rounded, added or multiplied "
        "(`graph.C3`), remainders by a rounded quotient, overflow of 8 bits, and the number model's choices.",
        "ieee754: 4.3.1, 5.4.1",
        FOLDED,
    ),
    _operation(
        "graph.C9",
        "compare",
        "A comparison gives bool. A NaN is equal to no value, itself included; it is less than none, and none is "
        "less than it. Zeros of both signs are equal, and neither is less.",
        "ieee754: 5.11; stablehlo.operations: compare",
    ),
    _operation(
        "graph.C10",
        "choose",
        "The elementwise operation `where` gives the bits of the one of its two elements that the condition chooses, "
        "converted where `graph.C23` converts it, whatever the other element is.",
        "stablehlo.operations: select",
        NORMALIZED,
    ),
    _operation(
        "graph.C11",
        "cast",
        "A conversion to floats rounds to nearest, ties to even (to 8 or 16 bits perhaps twice), by the number model; "
        "NaNs and zeros' signs stay. In-range floats truncate to integers; integers wrap; nonzero is true; complex "
        "gives real parts. Nonfinite 8-bit numbers and imaginary numbers as bools are free.",
        "stablehlo.operations: convert; ieee754: 5.4.2",
    ),
    _operation(
        "graph.C12",
        "bitcast",
        "A bitcast keeps every bit. Nothing is asked of elements whose source has several "
        "right values, such as a computed zero of either sign.",
        "stablehlo.operations: bitcast_convert",
    ),
    _operation(
        "graph.C13",
        "reduce",
        "Each element of a reduction folds the elements of its source that lie at its place along all axes but the "
        "reduced ones, each exactly once, and no others.",
        "stablehlo.operations: reduce",
    ),
    _operation(
        "graph.C14",
        "gather",
        "A gather takes along its axis the elements that the indices number from 0, with their bits; of indices "
        "outside the axis, negative ones among them, see `graph.C42`.",
        "stablehlo.operations: gather",
    ),
    _operation(
        "graph.C15",
        "iota",
        "An iota has along its axis the numbers 0, 1, 2 and so on, converted to its dtype.",
        "stablehlo.operations: iota",
    ),
    _operation(
        "graph.C16",
        "const",
        "A constant keeps its bits, also those of large integers, zeros of both signs and NaN payloads.",
        "tinygrad.lazy: const; stablehlo.operations: constant",
    ),
    _operation(
        "graph.C17",
        "call",
        "A call gives what the nodes of its function give for the arguments when they are evaluated in the place "
        "of the call.",
        "tinygrad.schedule; stablehlo.operations: composite",
    ),
    _operation(
        "graph.C18",
        "keep",
        "A contig has the value that its source has when the contig is listed. A detach has the value of its source, "
        "and names the same storage where that names storage.",
        "tinygrad.lazy: contiguous",
    ),
    _operation(
        "graph.C19",
        "cross",
        "A copy has, on its own device, the bits that its source has when the copy is listed. A collective gives the "
        "device of its node what its operation gives that member for the values of all members.",
        "tinygrad.lazy: copy_to_device",
    ),
    _operation(
        "graph.C20",
        "variable",
        "A variable has, in the nodes that a round lists, the value that the round gives it.",
        "tinygrad.schedule",
    ),
    _operation(
        "graph.C21",
        "symbolic",
        "An extent that is a variable is, in the nodes that a round lists, the value that the round gives the "
        "variable. Elements of storage beyond it show in no result.",
        "tinygrad.schedule",
    ),
    _operation(
        "graph.C22",
        "pad",
        "A pad adds zeros, of floats +0, whatever is computed from its source before or together with it.",
        "tinygrad.lazy: pad; stablehlo.operations: pad",
        NORMALIZED,
    ),
    _operation(
        "graph.C23",
        "promoted",
        "Operands of an elementwise operation that have several dtypes, the condition of a where apart, are converted "
        "before they are combined, to the least dtype that the promotion table has above all of them. A graph whose "
        "operands have no such dtype is malformed.",
        "jax.promotion",
    ),
    _operation(
        "graph.C24",
        "extreme",
        "A maximum of floats, elementwise or as a fold, none of them NaN, is the greatest of them, and a minimum the "
        "least; of zeros of both signs it is either.",
        "stablehlo.operations: maximum, minimum",
    ),
    _operation(
        "graph.C25",
        "root",
        "A square root, quotient or reciprocal of floats is NaN where undefined, IEEE 754's of zeros and infinities, "
        "and exact where its dtype has the value, unless multiplying by a rounded reciprocal gives another. Excepted "
        "are quotients of rounded, multiplied or divided operands, computed zero divisors, and nonfinite 8-bit "
        "results.",
        "ieee754: 6, 7",
        FOLDED,
    ),
    _operation(
        "graph.C26",
        "function",
        "exp2, log2 and sin are NaN where undefined, and log2 of zero is minus infinity, both free for finite "
        "operands of 8 bits. exp2 of plus infinity is infinity, of minus infinity zero, of a zero one; log2 of one is "
        "zero, and so is the sine of a zero.",
        "ieee754: 9.2.1",
    ),
    _operation(
        "graph.C27",
        "empty",
        "A value without elements is given as an array without elements, in its shape.",
        "tinygrad.lazy",
    ),
    _operation(
        "graph.C28",
        "empty_reduce",
        "A reduction of no elements is the identity of its operation in the dtype that it accumulates in, "
        "converted to its own: zero for a sum, or and xor, one for a product, all bits set for and, the least "
        "value for a maximum, the greatest for a minimum.",
        "tinygrad.lazy; stablehlo.operations: reduce",
    ),
    _operation(
        "graph.C29",
        "accumulator",
        "A reduction that names a dtype to accumulate in accumulates in it, or, of floats, in a wider one, and "
        "converts to its own dtype once, at the end.",
        "tinygrad.schedule; stablehlo.operations: reduce",
    ),
    _operation(
        "graph.C30",
        "results",
        "A call with several results gives, as each result, the value of the node that its function names for that "
        "result.",
        "tinygrad.schedule",
    ),
)
