"""The words of the specification, each defined once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Word:
    """A word and what it means here, in one or two sentences."""

    name: str
    meaning: str


_LISTED: Final = (
    Word("world", "All ranks that run a program. Its size is the product of the sizes of the mesh axes."),
    Word("rank", "One participant of a program, numbered from 0. A rank has memory of its own."),
    Word(
        "mesh",
        "An arrangement of the world in named axes. The ranks are the coordinates of the mesh in row-major order: the "
        "last axis changes fastest, and rank 0 is first.",
    ),
    Word("mesh axis", "A named dimension of the mesh, with a size of at least 1."),
    Word(
        "position",
        "The place of a rank along the mesh axes that an operation names, counted from 0 in row-major order of those "
        "axes as they are named. Inside a group, the place of the rank in the group as it is listed.",
    ),
    Word(
        "group",
        "Ranks that compute together. An operation may list groups of positions, which name every position exactly "
        "once; without a list all positions along the named axes are one group. Each group computes alone.",
    ),
    Word("member", "A rank of a group. Members are taken in the order in which the group lists them."),
    Word("root", "A member that an operation singles out, given by its position in the group."),
    Word("block", "The array that one rank holds of a value. Blocks of one value have one dtype and mostly one shape."),
    Word("axis", "A dimension of a block, counted from 0. A negative axis counts from the end: -1 is the last."),
    Word("local axis", "An axis of the block that a reduction removes together with the mesh axes."),
    Word("extent", "The number of elements along an axis of a block. It may be 0."),
    Word("dtype", "The type of an element: its width in bits and what those bits mean."),
    Word("step", "One operation of a program, with the names of its operands and results."),
    Word(
        "program",
        "A list of steps over a mesh. Its meaning is that every rank runs the steps one after the other, in list "
        "order, each to its end. An implementation may do otherwise as long as nobody can tell.",
    ),
    Word("case", "A program with its input blocks, and with what befalls ranks while they run it."),
    Word("legal", "A legal program has results. An illegal one has none, and its meaning is that it is rejected."),
    Word("rejected", "An implementation rejects a program when it raises an error before it returns any result."),
    Word("collective", "An operation for which ranks meet: no member has its result before the others take part."),
    Word("reduction", "An operation that folds the elements of several blocks into one: sum, mean, max, min, product."),
    Word("identity", "The value that a reduction gives when it folds nothing: 0 of a sum, 1 of a product."),
    Word(
        "tiled",
        "A tiled operation joins or splits blocks along an axis that they have. An untiled one adds or removes it.",
    ),
    Word("piece", "One of the equal parts of a block along an axis, as many as the group has members."),
    Word("rounding", "The step from an exact number to the nearest one that a dtype has, ties to even."),
    Word(
        "order-free",
        "Data on which every order and every tree of additions that the specification admits gives the same bits.",
    ),
    Word("tree", "A way to fold terms two at a time. Its leaves are the terms and each inner node rounds once."),
    Word(
        "number model",
        "What an implementation declares about numbers where several choices are right: subnormals, overflow of a "
        "conversion, the division of a mean, the dtype it adds in.",
    ),
    Word("guarantee", "A promise of an implementation about the bits of its reductions, such as that all ranks agree."),
    Word("buffer", "Named storage that begins as a copy of an input and may be written."),
    Word("view", "A part of a buffer under a name of its own. It has no storage: a write to one is seen in both."),
    Word("target", "The buffer or view that a step writes its result into."),
    Word("in place", "An operation is in place when its target is the storage of its operand."),
    Word(
        "start and done",
        "A collective may be started in one step and ended by a later step `done`. Its operands are read at the start, "
        "and its results are there from the start on.",
    ),
    Word("token", "What a `send` gives and a `recv` takes, so that the one comes after the other."),
    Word("refusal", "An error that an implementation raises because of what it was given."),
    Word("fault", "What befalls a rank from outside: it is late, or it dies."),
    Word("layout", "How the elements of a block lie in memory. It is no part of the block's value."),
    Word("graph", "Nodes in program order: constants, buffers, and operations on earlier nodes."),
    Word("schedule", "What a scheduler makes of a graph: kernels, copies, collectives, views and waits in an order."),
    Word("kernel", "An item of a schedule that computes elements on one device and writes them to buffers there."),
    Word("item", "One entry of a schedule."),
    Word("wait", "An item that ends a collective or copy that an earlier item has started."),
    Word("arena", "One allocation that holds several buffers whose lifetimes do not overlap."),
    Word("state", "What a value is along a mesh axis: invariant, varying, unreduced or reduced."),
    Word("type", "The states of a value along all mesh axes."),
    Word("cotangent", "What is paired with a value: how much a result depends on it. It has a type of its own."),
    Word("transpose", "Of a linear operation, what takes cotangents of its result to cotangents of its operands."),
    Word("variable", "A whole number that a graph leaves open, with bounds. It may be an extent or a value."),
)

WORDS: Final = {word.name: word for word in _LISTED}
"""Every word by name, in the order in which a reader needs them."""

REQUIREMENTS: Final = {
    "must": "Every implementation keeps it. Breaking it is a failure.",
    "should": "An implementation keeps it unless it has a reason. Breaking it is reported and is no failure.",
    "may": "Implementations differ and all are right. What was seen is reported.",
}
