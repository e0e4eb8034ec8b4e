"""Patterns of buffers that are assigned to, copied, passed to functions, and as long as a variable says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from conformance.cases.graph.graph import Function, Node, Variable
from conformance.cases.tensor.tensor import from_array
from conformance.specs.graphs.domain.edges.pattern import COUNTED, Pattern
from conformance.specs.graphs.domain.listing import Edge, array_of


def _buffers_alike(e: Edge) -> list[Node]:
    """Assign to one of two buffers of equal content, dtype and shape."""
    one, two = (e.buf(COUNTED, e.whole) for _ in range(2))
    before = e.alu("not", two)
    done = e.assign(one, e.alu("not", one))
    return [before, done, one, two, e.alu("not", one), e.alu("not", two)]


def _assigned_from_itself(e: Edge) -> list[Node]:
    """Assign a buffer's own elements to it, in another order, and to a part of it."""
    whole, square = e.buf(COUNTED, e.whole), e.buf(np.arange(9).reshape(3, 3), e.whole)
    return [
        e.assign(whole, e.flip(whole, 1)),
        e.assign(square, e.turn(square, 1, 0)),
        e.assign(e.shrink(whole, (1, 3), (1, 3)), e.shrink(whole, (0, 2), (0, 2))),
        *(whole, square),
    ]


def _value_before_assign(e: Edge) -> list[Node]:
    """Ask for what was computed of a buffer's view before and after it was assigned to."""
    held = e.buf(COUNTED, e.whole)
    before = e.alu("not", e.flip(e.turn(held, 1, 0), 0))
    e.assign(held, e.alu("add", held, held))
    return [before, e.alu("not", e.flip(e.turn(held, 1, 0), 0)), held]


def _parts_copied(e: Edge) -> list[Node]:
    """Copy contiguous parts of a buffer to another device and to its own."""
    held = e.buf(np.arange(1, 13), e.whole)
    parts = [e.shrink(held, ends) for ends in ((0, 4), (3, 7), (8, 12))]
    return [
        e.alu("not", e.asked.add("copy", part.shape, part.dtype, part, device=device, arg=True))
        for part in parts
        for device in ("d1", "d0")
    ]


def _one_argument_twice(e: Edge) -> list[Node]:
    """Call a function with one buffer twice, with parts of it, and with its arguments changed about."""
    held, other = (e.buf(COUNTED + number, e.whole) for number in range(2))
    rest = {"shape": held.shape, "dtype": e.whole, "device": "d0"}
    params = tuple(Node(id=f"p{n}", op="param", arg=n, **rest) for n in range(2))  # type: ignore[arg-type]  # as above
    made = tuple(
        Node(id=name, op="alu", of=of, arg=word, **rest)  # type: ignore[arg-type]  # as above
        for name, of, word in (("r", ("p0", "p1"), "sub"), ("s", ("p1", "p0"), "sub"), ("t", ("p0", "r"), "xor"))
    )
    e.asked.functions["twice"] = Function(nodes=(*params, *made), result="r", more=("s", "t"))
    calls = [
        e.asked.add("call", held.shape, e.whole, *of, arg="twice")
        for of in ((held, held), (held, other), (other, held), (held, e.flip(held, 1)))
    ]
    return [
        node
        for call in calls
        for node in (call, *(e.asked.add("item", held.shape, e.whole, call, arg=at) for at in (1, 2)))
    ]


def _swapped(e: Edge) -> list[Node]:
    """Exchange what two buffers hold by way of a copy, and what three do, whole and in part."""
    one, two, three = (e.buf(COUNTED + 7 * number, e.whole) for number in range(3))
    held = e.asked.add("contig", one.shape, one.dtype, one)
    done = [e.assign(one, two), e.assign(two, three), e.assign(three, held)]
    right, left = (e.buf(np.arange(6) + 10 * number, e.whole) for number in range(2))
    part = e.alu("not", e.shrink(right, (1, 4)))
    done.append(e.assign(e.shrink(right, (1, 4)), e.shrink(left, (2, 5))))
    done.append(e.assign(e.flip(e.shrink(left, (2, 5)), 0), part))
    return [*done, one, two, three, right, left, held, part]


def _named_by_nothing(e: Edge) -> list[Node]:
    """Write, before anybody reads it, what no node names, and what is named and neither computed with nor asked for."""
    name = f"b{len(e.asked.buffers)}"
    e.asked.buffers[name] = from_array(array_of(COUNTED, e.whole))
    idle, used = e.buf(COUNTED + 2, e.real), e.buf(COUNTED, e.whole)
    e.asked.wanted.append(e.alu("not", used).id)
    e.asked.close(())
    e.asked.writes |= {
        name: from_array(array_of(COUNTED + 5, e.whole)),
        idle.id: from_array(array_of(COUNTED - 3, e.real)),
    }
    return [e.alu("not", used)]


def _along(e: Edge, line: Node) -> list[Node]:
    """Move what is as long as the variable ``n`` says to lengths that are made of it, and count along these."""
    moved = e.asked.moved
    padded = moved("pad", ("n + 3",), line, ((1, 2),))
    halved = moved("stride", ("(n + 1) // 2",), line, (-2,))
    rows = moved("reshape", (1, "n + 3"), padded)
    counted = e.asked.add("iota", ("n + 3",), line.dtype, device="d0", arg=0)
    found = [e.alu("not", padded), e.alu("sub", counted, moved("flip", padded.shape, padded, (0,)))]
    found += [
        moved("flip", rows.shape, e.alu("not", rows), (1,)),
        e.alu("not", moved("flip", halved.shape, halved, (0,))),
    ]
    folds = [e.asked.add("reduce", (), each.dtype, each, arg=(0,), fold=word)
             for each in (padded, halved, counted) for word in ("max", "add")]  # fmt: skip
    return [*found, *folds]


def _bound(e: Edge) -> list[Node]:
    """Fold as many elements as a variable says, all of them below zero, and compute with the variable."""
    e.asked.variables["n"] = Variable(low=1, high=5, value=3)
    e.asked.bound["n"] = 4
    part = e.asked.moved("shrink", (3, "n"), e.buf(-1 - np.arange(15).reshape(3, 5), e.signed), ((0, 3), (0, "n")))
    value = e.asked.add("var", (), "int32", device="d0", arg="n")
    folds = [
        e.asked.add("reduce", (3,), part.dtype, part, arg=(1,), fold=word) for word in ("max", "min", "mul", "add")
    ]
    line = e.asked.moved("reshape", ("n",), e.asked.moved("shrink", (1, "n"), part, ((2, 3), (0, "n"))))
    return [*folds, e.alu("mul", value, value), e.alu("add", value, e.const(1, value)), *_along(e, line)]


STORAGES: Final[Mapping[str, Pattern]] = {
    "buffers alike": _buffers_alike,
    "assigned from itself": _assigned_from_itself,
    "value before an assign": _value_before_assign,
    "parts copied": _parts_copied,
    "one argument twice": _one_argument_twice,
    "bound variable": _bound,
    "swapped": _swapped,
    "named by nothing": _named_by_nothing,
}
"""What is stored, and by whom it is read before and after."""
