"""Schedules in which movement is done otherwise than it was asked for, or is pushed through what it may not pass."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from conformance.cases.graph.graph import Graph, Node
from conformance.cases.schedule.builders import (
    alu,
    buffer,
    constant,
    elementwise,
    given,
    graph,
    line,
    node,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.schedule import Schedule
from conformance.qualification.legal_schedules.plain import plain
from conformance.qualification.violations.violation import violates

A, B = stored("a"), stored("b")
SQUARE = stored("a", (2, 3))


def taken_for(right: Sequence[Node], wrong: Sequence[Node], results: Sequence[str] = ("y",)) -> Schedule:
    """Return the schedule that an engine makes of a graph which it takes for another one."""
    made = plain(_asked(wrong, results))
    return replace(made, graph=_asked(right, results))


def _asked(nodes: Sequence[Node], results: Sequence[str]) -> Graph:
    return graph(*nodes, results=list(results))


def _kept(source: Node, *moves: Node) -> list[Node]:
    """Return a chain of movement of a buffer, kept in one of its own."""
    return [source, *moves, node("y", "contig", moves[-1].id, shape=moves[-1].shape)]


@violates("law.C1")
def pads_merged_by_the_larger() -> Schedule:
    """A pad of a pad adds as much as the larger of the two, and not both."""
    inner = node("p", "pad", "a", shape=(6,), arg=((1, 1),))
    right = _kept(A, inner, node("q", "pad", "p", shape=(8,), arg=((2, 0),)))
    wrong = _kept(A, inner, node("q", "pad", "p", shape=(8,), arg=((1, 1),)))
    return taken_for(right, wrong)


@violates("law.C1")
def shrinks_merged_without_the_first_offset() -> Schedule:
    """A shrink of a shrink takes the second one's range of the source, as if the first began at 0."""
    inner = node("s", "shrink", "a", shape=(3,), arg=((1, 4),))
    right = _kept(A, inner, node("t", "shrink", "s", shape=(2,), arg=((1, 3),)))
    wrong = _kept(A, node("s", "shrink", "a", shape=(3,), arg=((0, 3),)), right[2])
    return taken_for(right, wrong)


@violates("law.C1")
def permutes_composed_the_other_way_round() -> Schedule:
    """P2 of p1 is taken for p1 of p2: the two agree for two axes, and not for three."""
    wide = stored("a", (2, 2, 2))

    def both(first: tuple[int, ...], second: tuple[int, ...]) -> list[Node]:
        moves = (node("p", "permute", "a", shape=(2, 2, 2), arg=first),
                 node("q", "permute", "p", shape=(2, 2, 2), arg=second))  # fmt: skip
        return _kept(wide, *moves)

    return _room(taken_for(both((1, 2, 0), (1, 0, 2)), both((1, 0, 2), (1, 2, 0))), 8)


def _room(made: Schedule, count: int) -> Schedule:
    """Return a schedule whose first buffer has room for as many float32."""
    return replace(made, buffers=(replace(made.buffers[0], size=4 * count), *made.buffers[1:]))


@violates("law.C1")
def strides_of_both_signs_multiplied() -> Schedule:
    """X[::2][::-1] is taken for x[::-2], which begins at the other end (by reading the seed's LazyBuffer.stride)."""
    every = node("s", "stride", "a", shape=(2,), arg=(2,))
    right = _kept(A, every, node("t", "stride", "s", shape=(2,), arg=(-1,)))
    wrong = _kept(A, every, node("t", "stride", "a", shape=(2,), arg=(-2,)))
    return taken_for(right, wrong)


@violates("law.C1")
def pad_of_a_shrink_dropped() -> Schedule:
    """A shrink and a pad back to the same shape are taken for nothing, and what was cut off is not zero."""
    cut = node("s", "shrink", "a", shape=(3,), arg=((0, 3),))
    right = [A, cut, node("p", "pad", "s", arg=((0, 1),)), alu("y", "neg", "p")]
    wrong = [A, cut, node("p", "reshape", "a"), alu("y", "neg", "p")]
    return taken_for(right, wrong)


@violates("law.C1")
def permute_done_after_the_expand() -> Schedule:
    """A permute of an expanded value is done on the value that is not, whose axes have other extents."""
    row = stored("a", (1, 2))
    right = _kept(row, node("e", "expand", "a", shape=(2, 2)), node("p", "permute", "e", shape=(2, 2), arg=(1, 0)))
    wrong = _kept(row, node("e", "expand", "a", shape=(2, 2)), node("p", "reshape", "e", shape=(2, 2)))
    return _room(taken_for(right, wrong), 2)


@violates("law.C1")
def shifted_view_taken_for_contiguous() -> Schedule:
    """A view of as many elements as its buffer has is taken for the buffer, although it is shifted and padded."""
    cut = node("s", "shrink", "a", shape=(3,), arg=((1, 4),))
    right = [A, cut, node("p", "pad", "s", arg=((0, 1),)), alu("y", "abs", "p")]
    wrong = [A, cut, node("p", "reshape", "a"), alu("y", "abs", "p")]
    return taken_for(right, wrong)


@violates("law.C1")
def reshape_merged_past_a_permute() -> Schedule:
    """A reshape past a permute is done on the value before it, though its axes are no groups of the permuted ones."""
    turned = node("p", "permute", "a", shape=(3, 2), arg=(1, 0))
    right = _kept(SQUARE, turned, node("r", "reshape", "p", shape=(6,)))
    wrong = _kept(SQUARE, turned, node("r", "reshape", "a", shape=(6,)))
    return _room(taken_for(right, wrong), 6)


@violates("form.C10")
def shrink_outside_its_source() -> Schedule:
    """Elements 1 to 5 of 4 are asked for: only the length was looked at, and that is the whole (by the seed)."""
    made = node("s", "shrink", "a", arg=((1, 5),))
    return schedule(given("a"), [], graph(A, made, results=["s"]))


@violates("law.C1")
def flip_of_a_flip_taken_for_one() -> Schedule:
    """Of two flips of one axis one is dropped as a duplicate, and the other stays."""
    once = node("f", "flip", "a", arg=(0,))
    right = [A, once, node("g", "flip", "f", arg=(0,)), alu("y", "neg", "g")]
    return taken_for(right, [A, once, node("g", "reshape", "f"), alu("y", "neg", "g")])


@violates("law.C1")
def movement_lost_on_the_way_up() -> Schedule:
    """A flip is pushed through an addition to one of its operands only."""
    nodes = (A, B, alu("s", "add", "a", "b"), node("y", "flip", "s", arg=(0,)))
    turned = line(4, 3, -1)
    item = elementwise("k", "add", writes("y", line()), reads("a", turned), "b", provenance=("s", "y"))
    return schedule((*given("a", "b"), buffer("y")), [item], graph(*nodes, results=["y"]), {"y": "y"})


@violates("law.C1")
def pad_pushed_through_an_added_constant() -> Schedule:
    """A pad of x + 1 is done on x, so that what was added is 1: the constant had to be padded too."""
    one = constant("1")
    right = [A, one, alu("s", "add", "a", "1"), node("p", "pad", "s", shape=(6,), arg=((1, 1),))]
    wide = constant("1", shape=(6,))
    wrong = [
        A, node("s", "pad", "a", shape=(6,), arg=((1, 1),)), wide,
        alu("p", "add", "s", "1", shape=(6,)),
    ]  # fmt: skip
    return taken_for(right, wrong, ("p",))


@violates("law.C1")
def maximum_of_a_pad_begins_at_its_identity() -> Schedule:
    """The pad under a maximum adds minus infinity, the identity of the fold, where zeros were asked for."""
    padded = node("p", "pad", "a", shape=(6,), arg=((1, 1),))
    right = [A, padded, node("y", "reduce", "p", shape=(), arg=(0,), fold="max")]
    return taken_for(right, [A, padded, node("y", "reduce", "a", shape=(), arg=(0,), fold="max")])


@violates("law.C1")
def pushed_view_seen_by_another_consumer() -> Schedule:
    """A flip is pushed into the value that it is of, and who else takes that value sees it flipped."""
    made = [A, alu("s", "neg", "a"), node("f", "flip", "s", arg=(0,))]
    right = [*made, alu("x", "abs", "f"), alu("y", "sqrt", "s")]
    wrong = [*made, alu("x", "abs", "f"), alu("y", "sqrt", "f")]
    return taken_for(right, wrong, ("s", "x", "y"))
