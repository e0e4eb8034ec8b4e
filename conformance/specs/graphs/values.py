"""The values law, and what it says of each operation."""

from __future__ import annotations

from conformance.judging.clause import Requirement
from conformance.judging.graphs.clause import GraphClause, about, right, way
from conformance.judging.graphs.subject import GraphSubject
from conformance.judging.graphs.values import bounded, settled


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
        "Every value that is asked for, and every buffer that is read, is given, with the shape and the dtype of its "
        "node or buffer.",
        "tinygrad.lazy",
        _legal,
        way("form"),
        general=True,
    ),
    GraphClause(
        "graph.C2",
        "must",
        "Where one value is right it is given, bit by bit: that of evaluating the nodes one after the other, as they "
        "are listed. A zero or a NaN that was computed may have another sign, and a NaN another payload.",
        "tinygrad.lazy; ieee754",
        _settled,
        way("bits"),
        general=True,
    ),
    GraphClause(
        "graph.C3",
        "must",
        "Where sums and products may be associated otherwise, fused, or accumulated more widely, and where a function "
        "is approximated, a value is no farther from the real one than any of that takes it.",
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
        "Reshape, permute, expand, shrink, stride and flip show each element of their source where their argument "
        "says, with its bits: NaN payloads and signs of zeros too. A negative step takes the last element first.",
        "tinygrad.lazy: reshape, permute, expand, shrink, stride; stablehlo.operations: slice, transpose, reverse",
    ),
    _operation(
        7,
        "whole",
        "Integers wrap around; a division of them truncates toward zero, and a remainder has the sign of the dividend. "
        "Of bools a sum is or, a product and.",
        "stablehlo.operations: add, multiply, divide, remainder; numpy.integers",
    ),
    _operation(
        8,
        "float",
        "Every operation on floats rounds once, to its own dtype, to nearest with ties to even, however many are "
        "computed together: those of 8 and 16 bits too.",
        "ieee754: 4.3.1, 5.4.1",
    ),
    _operation(
        9,
        "compare",
        "A comparison gives bool. A NaN is unequal to everything, itself included, and less than nothing; zeros of "
        "either sign are equal.",
        "ieee754: 5.11; stablehlo.operations: compare",
    ),
    _operation(
        10,
        "choose",
        "A choice has the bits of the value that is chosen, whatever the other one is.",
        "stablehlo.operations: select",
    ),
    _operation(
        11,
        "cast",
        "A conversion to a float rounds once, to nearest with ties to even; one to an integer truncates toward zero; "
        "one to bool is whether the value is unequal to zero. A NaN becomes a NaN of any sign and payload.",
        "stablehlo.operations: convert; ieee754: 5.4.2",
    ),
    _operation(12, "bitcast", "A bitcast has the same bits.", "stablehlo.operations: bitcast_convert"),
    _operation(
        13,
        "reduce",
        "A reduction combines all elements along its axes, each once, and no others.",
        "stablehlo.operations: reduce",
    ),
    _operation(
        14,
        "gather",
        "A gather has along its axis the elements that the indices number, with their bits.",
        "stablehlo.operations: gather",
    ),
    _operation(
        15,
        "iota",
        "A count goes up by one along its axis, from zero, in its dtype.",
        "stablehlo.operations: iota",
    ),
    _operation(
        16,
        "const",
        "A constant has its bits: large integers, zeros of either sign and NaN payloads.",
        "tinygrad.lazy: const; stablehlo.operations: constant",
    ),
    _operation(
        17,
        "call",
        "A call gives what its function gives for its arguments, and nothing else of where it is called.",
        "tinygrad.schedule; stablehlo.operations: composite",
    ),
    _operation(
        18,
        "keep",
        "What is made contiguous, or detached, has the value of its source.",
        "tinygrad.lazy: contiguous",
    ),
    _operation(
        19,
        "cross",
        "What is copied to a device, or received from others, has the bits that were sent.",
        "tinygrad.lazy: copy_to_device",
    ),
    _operation(
        20,
        "variable",
        "A variable has, in the nodes of a round, the value that the round gives it.",
        "tinygrad.schedule",
    ),
    _operation(
        21,
        "symbolic",
        "An extent that is a variable is as long as the variable says: what is beyond shows nowhere.",
        "tinygrad.schedule",
    ),
    _operation(
        22,
        "pad",
        "What a pad adds is zero, whatever is made of its source before, or computed together with it.",
        "tinygrad.lazy: pad; stablehlo.operations: pad",
    ),
    _operation(
        23,
        "promoted",
        "Operands of several dtypes are converted first, to the least dtype that all can be converted to.",
        "jax.promotion",
    ),
    _operation(
        24,
        "extreme",
        "A maximum or a minimum of numbers is one of them.",
        "stablehlo.operations: maximum, minimum",
    ),
    _operation(
        25,
        "root",
        "A square root, a quotient and a reciprocal of what has none are a NaN, those of zeros and infinities "
        "infinities and zeros, and those that are numbers of the dtype are these.",
        "ieee754: 6, 7",
    ),
    _operation(
        26,
        "function",
        "exp2, log2 and sin of what has no value are a NaN; log2 of zero is minus infinity, exp2 of infinities is "
        "infinity and zero, and the sine of zero is that zero.",
        "ieee754: 9.2.1",
    ),
    _operation(27, "empty", "What has no elements is given with none of them, and its shape.", "tinygrad.lazy"),
    _operation(
        28,
        "empty_reduce",
        "A reduction of no elements is what changes nothing: zero for a sum, one for a product, the least value of the "
        "dtype for a maximum and the greatest for a minimum.",
        "tinygrad.lazy; stablehlo.operations: reduce",
    ),
    _operation(
        29,
        "accumulator",
        "A reduction accumulates in the dtype that it names, and rounds to its own once, at the end.",
        "tinygrad.schedule; stablehlo.operations: reduce",
    ),
    _operation(30, "results", "Every result of a call is its own.", "tinygrad.schedule"),
)
