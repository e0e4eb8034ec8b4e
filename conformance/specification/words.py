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
        "The place of a rank along the mesh axes that a step names, counted from 0 in row-major order of those axes as "
        "they are named. Inside a group, the place of the rank in the group as it is listed, counted from 0.",
    ),
    Word(
        "group",
        "Ranks that compute together. A step may list groups of positions along the axes that it names, which name "
        "every position exactly once; without a list all these positions are one group. The group size is the number "
        "of its members.",
    ),
    Word("over no mesh axis", "Of a step: it names no mesh axis, so that every rank is alone."),
    Word("member", "A rank of a group. Members are taken in the order in which the group lists them."),
    Word("root", "A member that an operation singles out, given by its position in the group."),
    Word(
        "value",
        "What a name of a program or of a graph stands for: in a program a block on each rank that has one, in a graph "
        "one array. Of an element or a variable: its number.",
    ),
    Word("block", "The array that one rank holds of a value. Blocks of one value have one dtype and mostly one shape."),
    Word("axis", "A dimension of a block, counted from 0. A negative axis counts from the end: -1 is the last."),
    Word("local axis", "An axis of the block that a reduction removes together with the mesh axes."),
    Word("extent", "The number of elements along an axis of a block. It may be 0."),
    Word("dtype", "The type of an element: its width in bits and what those bits mean."),
    Word(
        "implementation",
        "What is judged: a library, a compiler or an engine that runs programs. Its adapter to this suite is a "
        "backend. A framework is an implementation that others publish.",
    ),
    Word("device", "What runs the program of one rank, and holds its blocks."),
    Word("source", "A document that a clause is taken from. Of a pair, a node or a copy: what is read."),
    Word("step", "One operation of a program, with the names of its operands and results."),
    Word(
        "input", "A value that is given to a program or a graph from outside, and not made by a step or a node of it."
    ),
    Word("operand", "A value that a step reads: an input, the result of an earlier step, or a buffer or view."),
    Word(
        "operation of one operand",
        "A collective that makes each result of one operand: all but ragged_all_to_all and those that take none, such "
        "as barrier. A step may give it several operands, each of which has a result of its own, or none.",
    ),
    Word(
        "attribute",
        "A named argument of a step that is no value, such as `axis`, `root`, `op` or `tiled`. All ranks give the same "
        "one.",
    ),
    Word(
        "program",
        "A list of steps over a mesh. Its meaning is that every rank runs the steps one after the other, in list "
        "order, each to its end. An implementation may do otherwise as long as nobody can tell. Of a kernel: the "
        "compiled code that it launches.",
    ),
    Word("case", "A program with its input blocks, and with the faults of ranks while they run it."),
    Word(
        "go on",
        "A rank can go on where all members of the group of its next collective come to it and agree on the operation, "
        "its attributes, the members and, as far as it needs that, on dtypes and shapes, and no rank dies whose block "
        "it needs.",
    ),
    Word(
        "call",
        "One collective as a rank meets it: the operation, its attributes, the group and the blocks. Of a graph: a "
        "node that gives a function its arguments, one for each parameter.",
    ),
    Word(
        "legal",
        "A legal program has results. An illegal one has none, and its meaning is that it is rejected; where "
        "ranks run different steps, those who can go on may have results all the same. Of a group, a block or an "
        "argument: no program is illegal for it.",
    ),
    Word(
        "rejected",
        "An implementation rejects a program when it raises an error before it returns any result. A clause that "
        "rejects an attribute speaks of operations that have something to do: nothing is asked over no axis "
        "(`collective.C21`, `collective.C30`), nor of one operand that is not given (`collective.C29`). Of a "
        "collective that is started and never waited for no rejection is asked (`async.C17`).",
    ),
    Word("recommendation", "A clause that is a *should*. No *must* is asked of what it settles."),
    Word(
        "result",
        "A value that a program or a graph is asked for. Of a step or an operation: the value that it makes, a block "
        "on each rank that receives one.",
    ),
    Word("collective", "An operation for which ranks meet: no member has its result before the others take part."),
    Word("term", "An element or a block that a reduction folds."),
    Word("fold", "To combine terms with a binary operation, such as addition, until one value is left."),
    Word(
        "reduction",
        "An operation that folds terms into one value: sum, mean, max, min, product, and, or, xor, premul_sum. "
        "[Reductions](#reductions) has each. A reduce of a graph is a node that folds along axes of its source.",
    ),
    Word(
        "identity",
        "The value that changes nothing when it is folded with another, and the result of a reduction without terms: 0 "
        "of a sum, premul_sum, or and xor, which of floats is +0, 1 of a product, the least value of the dtype, an "
        "infinity where it has one, of max, the greatest of min, and all bits set of and.",
    ),
    Word(
        "tiled",
        "A tiled operation joins or splits blocks along an axis that they have. An untiled one adds or removes it.",
    ),
    Word("member order", "The order in which a group lists its members."),
    Word(
        "piece",
        "One of the equal parts of a block along an axis, counted from 0; there are as many as the group has members.",
    ),
    Word(
        "slice",
        "The elements of a block at one index of an axis, or in a range of indices, without the other elements. Slice "
        "p along an axis is the one at index p, without that axis. Of a ragged_all_to_all: rows that one member sends "
        "to another.",
    ),
    Word("pair", "Of permute, send and recv: a source and a destination, both positions of each group."),
    Word("row", "The elements of a block at one index of axis 0."),
    Word(
        "converted",
        "Of an element: brought to another dtype by the rules of `graph.C11`: to the nearest number of a float dtype, "
        "truncated toward zero to an integer dtype.",
    ),
    Word(
        "promotion table",
        "Which dtypes are above which: bool below uint8 and int8, an integer below the wider ones, int64 and uint64 "
        "below bfloat16 and float16, these below float32, float32 below float64 and complex64, those below complex128.",
    ),
    Word(
        "least dtype",
        "Of several dtypes: the one that the promotion table has above all of them and below every other such. "
        "uint64 with a signed integer dtype, and float8 or int4 with any other dtype, have none.",
    ),
    Word(
        "linear",
        "Of an operation: it makes of a sum of operands the sum of what it makes of each. Movement, copies, sums, "
        "negation and products with a number are linear. Adding a number, max and min are not.",
    ),
    Word(
        "function",
        "Of elementwise operations: exp2, log2 and sin, which are approximated. In a graph: nodes with "
        "parameters, which "
        "calls give arguments for. Beside an operation: the Python code that is its meaning.",
    ),
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
    Word(
        "any tree",
        "The order in which a reduction takes its terms is free: every binary tree over the terms, in any "
        "order, is right "
        "(`numerics.C1`). The functions here fold from the left in member order, which is one right order.",
    ),
    Word("fused", "Of a product and a sum: rounded once, together. Of operations: computed by one kernel."),
    Word(
        "error bound",
        "How far from the exact real number a right value may be: so many roundings of so large numbers. "
        "[numerics.md](numerics.md) derives it.",
    ),
    Word("guarantee", "A promise of an implementation about the bits of its reductions, such as that all ranks agree."),
    Word(
        "storage",
        "Memory that holds elements: the bytes of a buffer that is no part of another. Views and planned buffers are "
        "ranges of it, and two names of one storage see each other's writes.",
    ),
    Word("buffer", "Named storage that begins as a copy of an input and may be written."),
    Word("view", "A part of a buffer under a name of its own. It has no storage: a write to one is seen in both."),
    Word("target", "The buffer or view that a step writes its result into, instead of returning a new block."),
    Word("assign", "A step or node that writes a value into a buffer or view."),
    Word("overwritten", "Of a value in storage: a later step writes other elements into that storage."),
    Word("free", "A step that ends a buffer and all its views. Its memory is there to be used again."),
    Word(
        "copy",
        "A step that returns a new value with the elements that its operand has then. Of a graph or a schedule: what "
        "brings elements to another device or to other storage.",
    ),
    Word("in place", "An operation is in place when its target is the storage of its operand."),
    Word(
        "start",
        "A step that begins a collective and returns a handle. The meaning is that of the collective at the place of "
        "the start: its operand is read as it is there.",
    ),
    Word(
        "done",
        "The step that waits for a started collective, by its handle, and returns the result. Whether the host blocks "
        "meanwhile is outside this specification.",
    ),
    Word(
        "under way",
        "Of a collective: it is started, and no done has waited for it yet. Of a block: sent, not received.",
    ),
    Word("token", "What a `send` gives and a `recv` takes, so that the one comes after the other."),
    Word("refused", "Rejected. Of a step or a program of any dialect: an error is raised instead of a value."),
    Word(
        "malformed",
        "Of a case: it breaks the form of its dialect, such as operands without a least dtype. No clause is about it.",
    ),
    Word("refusal", "An error that an implementation raises because of what it was given."),
    Word("fault", "What befalls a rank from outside: it is late, or it dies."),
    Word("layout", "How the elements of a block lie in memory. It is no part of the block's value."),
    Word("graph", "Nodes in program order: constants, buffers, and operations on earlier nodes."),
    Word("node", "One value of a graph, on one device, with an operation, sources, a shape and a dtype."),
    Word(
        "realized",
        "Of a tensor or a value: its elements are in storage, so that reading them computes nothing. A value that is "
        "asked for is realized in its round. It is no part of what a value is.",
    ),
    Word(
        "round",
        "A part of a graph case: nodes that are listed, then values that are asked for and buffers that are read.",
    ),
    Word(
        "movement",
        "An operation that only selects, repeats or reorders elements: reshape, permute, expand, pad, shrink, "
        "stride, flip, detach.",
    ),
    Word(
        "elementwise",
        "Of an operation of a graph: each element of its result is computed of the elements of its operands at the "
        "same place. Conversions are elementwise.",
    ),
    Word("contiguous", "Of elements: side by side in memory, in row-major order."),
    Word("schedule", "What a scheduler makes of a graph: kernels, copies, collectives, views and waits in an order."),
    Word("kernel", "An item of a schedule that computes elements on one device and writes them to buffers there."),
    Word("item", "One entry of a schedule."),
    Word("access", "What an item reads or writes: elements by an index map, a range of bytes, or all of a buffer."),
    Word(
        "index map",
        "What gives for each point the element of a buffer that is touched there, or, where a pad has zeros, none.",
    ),
    Word("conflict", "Two items conflict where both touch one byte and at least one of them writes it."),
    Word(
        "body",
        "What a kernel computes: instructions, each of which is done at every point of an iteration space. A kernel "
        "may have several.",
    ),
    Word("point", "One index of the iteration space of a body, with a number along each of its axes."),
    Word(
        "phase",
        "Bodies of one kernel that run side by side. Between two phases is a barrier, which no point passes before "
        "all points have come.",
    ),
    Word("local memory", "Storage that one kernel has while it runs, separate for each group of its points."),
    Word("edge", "The statement of a schedule that one item begins after another is done."),
    Word("handle", "The name by which a started collective, copy or kernel is waited for."),
    Word("started", "Of an item or a collective: it has begun, and its results are there when it was waited for."),
    Word("sequence", "Items that are captured once, to be done again with other buffers by an item that calls them."),
    Word("planned", "Of a buffer: a memory plan has given it a place in an arena."),
    Word(
        "place",
        "Of a node, in a schedule: the buffer, or its elements by an index map, where the value of the node is at the "
        "end.",
    ),
    Word("forced", "Of a copy node: it is marked, so that it is made although its value is on the device already."),
    Word("detach", "A node with the value of its source, of which no gradient goes back to the source."),
    Word("contig", "A node that asks for its source as contiguous elements."),
    Word("claim", "What an implementation declares that it can do. It is judged by no more than that."),
    Word(
        "wait", "An item that ends a collective or copy that an earlier item has started, by the handle of that item."
    ),
    Word("alias", "A second name of storage that another name already has."),
    Word("participant", "A device that takes part in a collective of a schedule."),
    Word("communicator", "What a library keeps for a group of ranks: their order, and memory that all of them reach."),
    Word("arena", "One allocation that holds several buffers whose lifetimes do not overlap."),
    Word(
        "sub-buffer",
        "A part of a buffer that a device takes in the place of a buffer. Its alignment says of how many bytes the "
        "beginning is a multiple. Some devices have none.",
    ),
    Word("placement", "Where the elements of a logical tensor are: its splits, partial axes and masks."),
    Word(
        "part",
        "The elements of a tensor that one device holds. A split cuts an axis of the tensor into parts. Of a "
        "collective in a schedule: a kernel or a copy on one device that it is made of. Of a split reduce: some of its "
        "terms, which are folded alone first; what the parts come to is folded then. Of an all_to_all_uneven: the rows "
        "of a block that go to one member. Of a complex number: its real or its imaginary number.",
    ),
    Word(
        "bounds",
        "Of a split: where each part begins and ends along the axis. Of a variable: its least and greatest value.",
    ),
    Word("mask", "What says of each part of a tensor whether it is real."),
    Word("contribution", "What one device holds of a partial tensor: a term of the fold that the tensor is."),
    Word("chunk", "Of a ring and its like: one of the pieces in which a block goes from device to device."),
    Word("replica", "A part that another device holds as well."),
    Word("partial", "Of a tensor along a mesh axis: the devices hold contributions, and the tensor is their fold."),
    Word("real", "Of a part: it belongs to the tensor. A mask says which parts are real."),
    Word("state", "What a value is along a mesh axis: invariant, varying, unreduced or reduced."),
    Word("invariant", "A state along a mesh axis: all ranks hold the same, and their cotangents are one."),
    Word("varying", "A state along a mesh axis: each rank holds a block of its own."),
    Word("unreduced", "A state along a mesh axis: the value is the sum of what the ranks hold."),
    Word("reduced", "A state along a mesh axis: all ranks hold the same, and their cotangents are to be added."),
    Word("type", "The states of a value along all mesh axes."),
    Word(
        "with types",
        "Where a typed program is checked, so that each value has a type. Without types none has: operands count as "
        "invariant, and every rank has values and cotangents of its own.",
    ),
    Word(
        "cast",
        "A step that changes the state of a value along mesh axes and moves no data. An automatic cast is one that "
        "an operation makes of its operand by itself.",
    ),
    Word(
        "lowered",
        "Of a program: made into operations of a compiler, in StableHLO, before it is optimised. A compiled one is "
        "what is left afterwards.",
    ),
    Word("region", "Of a lowered operation: the operations inside it, such as the addition of a reduction."),
    Word("replica groups", "Of a lowered collective: its groups, as rows of ids of devices."),
    Word("local operation", "An operation on the blocks of one rank, for which no ranks meet."),
    Word("mapped", "Of a program and a mesh axis or level: it runs once for each index and may name the axis."),
    Word(
        "cotangent",
        "An array in the shape of a value that says how much a number computed from the results depends on "
        "each of its elements.",
    ),
    Word("transpose", "Of a linear operation: the function from the cotangent of its result to those of its operands."),
    Word(
        "level", "A new axis that a program is mapped over, with a size, its place in each operand and in each result."
    ),
    Word("slice of a level", "The operands at one index of a level, for which the program runs once."),
    Word("tangent", "How a value changes where the inputs change by given directions: the derivative along them."),
    Word("variable", "A whole number that a graph leaves open, with bounds. It may be an extent or a value."),
)

WORDS: Final = {word.name: word for word in _LISTED}
"""Every word by name, in the order in which a reader needs them."""

REQUIREMENTS: Final = {
    "must": "Every implementation keeps it. Breaking it is a failure.",
    "should": "An implementation keeps it unless it has a reason. Breaking it is reported and is no failure, "
    "and no *must* is then asked of the values that it settles.",
    "may": "Implementations differ and all are right. What was seen is reported. Who promises a guarantee is held to "
    "its clauses as to a *must*.",
}
