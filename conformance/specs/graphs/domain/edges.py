"""Identities of numbers at the edges where elements of a dtype break them, each with the data in which that shows.

A pattern is a function that lists a few nodes and returns those to ask for. A case holds several patterns, in turn, so
that a run of 300 draws has each of them. Half of the cases list everything again in a second round, with other
contents: there a cache that knows too little of a node shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Function, Node, Variable
from conformance.cases.tensor.tensor import from_array, to_array
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.seldom_draws import seldom
from conformance.specs.graphs.domain.edges_of_views import VIEWS, outside
from conformance.specs.graphs.domain.listing import Edge
from conformance.specs.graphs.domain.unfinished_case import Asked, Words

INTEGERS: Final = ("int32", "int8", "int64", "uint8", "int16", "uint32", "uint64")
FLOATS: Final = ("float32", "float16", "float64", "bfloat16", "float32")
TOGETHER: Final = 4
"""Patterns in a case: with that each is in one or two of the about 17 cases of 300 draws, of some 100 to 400 nodes."""

APART: Final = 7
"""Of so many cases one is of indices outside alone: two or three of 300 draws."""

LATE: Final = 20
"""Values at most that were computed in the first round and are asked for in the second, when contents are others."""

_TIES: Final = (2**53 + 1, 2**62 + 2**38 + 1, -(2**53) - 1, 2**55 + 2**31 + 1, 2**60 + 2**36 + 1, 16777217)
"""Integers beyond what a double holds, and above a tie of float32 by less than a double tells."""

_COUNTED: Final = np.arange(12).reshape(3, 4) % 5


Pattern = Callable[[Edge], list[Node]]


def _table() -> dict[str, Pattern]:
    """Return the patterns that are one expression or a few."""
    alu = Edge.alu
    return {
        "compared after a sum": lambda e: [
            alu(e, "lt", alu(e, "add", e.i, e.const(5, e.i)), e.const(7, e.i)),
            alu(e, "lt", alu(e, "add", e.i, e.j), e.j),
            alu(e, "lt", e.i, alu(e, "sub", e.i, e.const(1, e.i))),
            alu(e, "eq", alu(e, "add", e.x, e.const(1, e.x)), e.x),
        ],
        "product divided": lambda e: [
            alu(e, word, alu(e, "mul", e.i, e.const(value, e.i)), e.const(value, e.i))
            for word, value in (("div", 3), ("mod", 6), ("div", 2))
        ],
        "quotient multiplied": lambda e: [
            alu(e, "mul", alu(e, "div", e.i, e.const(3, e.i)), e.const(3, e.i)),
            alu(e, "div", alu(e, "div", e.i, e.const(5, e.i)), e.const(60, e.i)),
            alu(e, "div", alu(e, "add", e.i, e.const(7, e.i)), e.const(7, e.i)),
            alu(e, "mod", alu(e, "mod", e.i, e.const(6, e.i)), e.const(4, e.i)),
        ],
        "divided by a power": lambda e: [
            alu(e, word, e.i, e.const(value, e.i)) for word in ("div", "mod", "mul") for value in (2, 16, 64)
        ],
        "shifted there and back": lambda e: [
            alu(e, second, alu(e, first, e.i, e.const(3, e.i)), e.const(3, e.i))
            for first, second in (("shl", "shr"), ("shr", "shl"), ("shr", "shr"), ("shl", "shl"))
        ],
        "bits and themselves": lambda e: [
            alu(e, "and", e.i, alu(e, "not", e.i)),
            alu(e, "xor", alu(e, "xor", e.i, e.j), e.i),
            alu(e, "or", alu(e, "and", e.i, e.j), alu(e, "xor", e.i, e.j)),
            alu(e, "add", alu(e, "not", e.i), e.const(1, e.i)),
        ],
        "itself against itself": lambda e: [alu(e, word, e.x, e.x) for word in ("sub", "div", "eq", "ne", "lt")],
        "zero and one of floats": lambda e: [
            alu(e, "mul", e.x, e.const(0, e.x)),
            alu(e, "add", e.x, e.const(0, e.x)),
            alu(e, "sub", e.const(0, e.x), e.x),
            alu(e, "mul", e.x, e.const(-1, e.x)),
        ],
        "negated twice": lambda e: [
            alu(e, "neg", alu(e, "neg", e.x)),
            alu(e, "neg", alu(e, "sub", e.x, e.y)),
            alu(e, "abs", alu(e, "neg", e.i)),
            alu(e, "abs", e.i),
            alu(e, "neg", e.i),
            alu(e, "sub", e.const(0, e.i), e.i),
        ],
        "greater of no number": lambda e: [
            alu(e, "max", e.x, alu(e, "min", e.x, e.y)),
            alu(e, "neg", alu(e, "max", alu(e, "neg", e.x), alu(e, "neg", e.y))),
            alu(e, "where", alu(e, "lt", e.x, e.y), e.y, e.x),
            alu(e, "where", alu(e, "lt", e.y, e.x), e.y, e.x),
        ],
        "comparison denied": lambda e: [
            alu(e, "not", alu(e, "lt", e.x, e.y)),
            alu(e, "lt", alu(e, "sub", e.x, e.y), e.const(0, e.x)),
            alu(e, "lt", alu(e, "sub", e.i, e.j), e.const(0, e.i)),
            alu(e, "eq", alu(e, "sub", e.x, e.y), e.const(0, e.x)),
        ],
        "choice of one": lambda e: [
            alu(e, "where", alu(e, "ne", e.x, e.x), e.y, e.x),
            alu(e, "where", alu(e, "eq", e.x, e.y), e.x, e.y),
            alu(e, "where", alu(e, "lt", e.i, e.j), e.i, e.i),
            alu(e, "where", alu(e, "eq", e.x, e.const(0, e.x)), e.const(0, e.x), e.x),
        ],
        "other order of sums": lambda e: [
            alu(e, "add", alu(e, "sub", e.x, e.y), e.y),
            alu(e, "sub", alu(e, "add", e.x, e.y), alu(e, "add", e.y, e.x)),
            alu(e, "sub", e.i, e.j),
            alu(e, "sub", e.j, e.i),
        ],
        "integers narrowed": lambda e: [
            e.cast(e.i, *chain)
            for chain in (
                ("int8", e.whole),
                ("uint8", e.whole),
                ("int16", "int64"),
                ("bool", e.whole),
                ("uint8", "int8"),
            )
        ],
        "floats narrowed": lambda e: (
            [
                e.cast(e.buf([0.1, 2049, 1e-7, -0.0, 65520, 0.3], "float32"), narrow, "float32")
                for narrow in ("float16", "bfloat16")
            ]
            + [e.cast(e.buf([1.5, -2.5, 0.0, -0.75, 3.99], e.real), "int32", e.real)]
        ),
        "to bool": lambda e: [
            e.cast(e.buf([0.5, -0.25, 0.0, -0.0, 256.0, np.nan], e.real), "bool"),
            e.cast(e.buf([0, 1, 64, 2, 96, 0], e.whole), "bool", e.whole),
            e.cast(e.buf([256, 65536, 2**24, 0], "int32"), "bool"),
        ],
        "rounded once": lambda e: [
            *(e.cast(e.buf(_TIES, "int64"), dtype) for dtype in ("float32", "float64")),
            e.cast(e.buf([1 + 2**-11 + 2**-40, 2049 + 2**-30, 1 - 2**-12 - 2**-42], "float64"), "float16"),
            e.cast(e.buf([2**24 + 1, 2**31 - 1, 2**24 + 3, -(2**24) - 1], "int32"), "float32"),
        ],
        "large integers": lambda e: [
            alu(e, word, e.buf(_TIES, "int64"), e.buf([each + 1 for each in _TIES], "int64"))
            for word in ("eq", "lt", "div", "mod", "max")
        ],
        "sign of a quotient": lambda e: [
            alu(e, word, e.buf([-7, 7, -7, 7, -1, 0], dtype), e.buf([2, -2, -3, -3, 5, -5], dtype))
            for word in ("div", "mod")
            for dtype in ("int32", "int8", "int16", "int64")
        ],
        "sign of a remainder": lambda e: [
            alu(e, "mod", e.buf([-7, 7, -5.5, 5.5], dtype), e.buf([2, -2, 4, -4], dtype))
            for dtype in ("float32", e.real)
        ],
        "bits of repeats": lambda e: [
            e.fold(word, e.spread(e.i, count), 2) for word in ("xor", "and", "or") for count in (2, 3)
        ],
        "numbers of repeats": lambda e: [
            *(e.fold(word, e.spread(e.i, 3), 2) for word in ("add", "mul", "max")),
            *(e.fold(word, e.const(3, e.i), 1) for word in ("add", "mul", "xor", "min")),
            e.fold("max", e.spread(e.x, 3), 2),
        ],
        "fold of zeros around": lambda e: [
            e.fold(word, e.pad(alu(e, "neg", below), (0, 1), (2, 0)), 1)
            for below in (e.buf(_COUNTED + 1, "float32"), e.buf(-1 - _COUNTED, "int32"))
            for word in ("max", "min", "mul", "add")
        ],
        "odd extents": lambda e: [
            e.fold(word, e.buf(-1 - (np.arange(4 * 7).reshape(4, 7) % 3), e.signed), axis)
            for word in ("max", "mul", "add")
            for axis in (0, 1)
        ],
        "axes alike": lambda e: [
            e.fold("max", e.buf(np.arange(27).reshape(3, 3, 3) * 7 % 27, "int32"), *axes)
            for axes in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2))
        ],
        "wider in between": lambda e: [
            e.fold("add", e.buf([[60000, 30000], [-60000, 1]], "float16"), 0, 1, acc="float32"),
            e.fold("mul", e.buf([[300, 300], [0.01, 0.5]], "float16"), 0, 1, acc="float32"),
            e.fold("add", e.buf([[256, 1], [1, 1], [1, 1]], "bfloat16"), 0, 1, acc="float32"),
        ],
        "two pads of one": lambda e: [
            node
            for source in (e.i, alu(e, "not", e.i))
            for sides in (((1, 2), (0, 1)), ((2, 1), (0, 1)), ((0, 3), (1, 0)))
            for node in (e.pad(source, *sides), alu(e, "not", e.pad(source, *sides)))
        ],
        "moved twice": lambda e: [
            e.pad(e.pad(alu(e, "not", e.i), (1, 0), (0, 2)), (0, 2), (3, 1)),
            e.shrink(e.pad(alu(e, "not", e.i), (2, 1), (0, 3)), (0, 3), (2, 8)),
            e.stride(e.flip(e.i, 1), 2, 4),
            e.stride(e.stride(e.i, 1, -2), -3, 2),
            e.flip(e.stride(e.flip(e.i, 0, 1), 3, 4), 1),
            e.turn(e.fold("max", e.turn(e.spread(e.i, 2), 2, 0, 1), 0), 1, 0),
        ],
        "counted and moved": lambda e: [
            e.shrink(e.iota(), (1, 3), (2, 6)),
            e.stride(e.iota(), 1, -4),
            e.pad(e.flip(e.iota(), 1), (1, 0), (0, 2)),
            e.fold("max", e.flip(e.shrink(e.iota(), (0, 4), (1, 5)), 1), 0),
        ],
        "turned round": lambda e: [
            e.turn(e.turn(e.buf(np.arange(24).reshape(2, 3, 4), "int32"), 1, 2, 0), *axes)
            for axes in ((1, 2, 0), (2, 0, 1), (0, 2, 1))
        ],
        "nearly one node": lambda e: [
            *(alu(e, "add", e.i, e.const(value, e.i)) for value in (1, 2)),
            *(e.cast(e.i, dtype) for dtype in ("int32", "uint32", "int16", "float32")),
            *(alu(e, "not", e.shrink(e.i, (at, at + 2), (at, at + 4))) for at in (0, 1, 2)),
            *(alu(e, "not", e.flip(e.i, *axes)) for axes in ((0,), (1,), (0, 1))),
            *(alu(e, "not", e.stride(e.i, *steps)) for steps in ((2, 2), (-2, 2), (2, -2), (1, 1))),
            *(e.fold(word, e.i, axis) for word in ("max", "min", "xor") for axis in (0, 1)),
        ],
    }


def _buffers_alike(e: Edge) -> list[Node]:
    """Assign to one of two buffers of equal content, dtype and shape."""
    one, two = (e.buf(_COUNTED, e.whole) for _ in range(2))
    before = e.alu("not", two)
    done = e.assign(one, e.alu("not", one))
    return [before, done, one, two, e.alu("not", one), e.alu("not", two)]


def _assigned_from_itself(e: Edge) -> list[Node]:
    """Assign a buffer's own elements to it, in another order, and to a part of it."""
    whole, square = e.buf(_COUNTED, e.whole), e.buf(np.arange(9).reshape(3, 3), e.whole)
    return [
        e.assign(whole, e.flip(whole, 1)),
        e.assign(square, e.turn(square, 1, 0)),
        e.assign(e.shrink(whole, (1, 3), (1, 3)), e.shrink(whole, (0, 2), (0, 2))),
        *(whole, square),
    ]


def _value_before_assign(e: Edge) -> list[Node]:
    """Ask for what was computed of a buffer's view before and after it was assigned to."""
    held = e.buf(_COUNTED, e.whole)
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
    held, other = (e.buf(_COUNTED + number, e.whole) for number in range(2))
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


def _bound(e: Edge) -> list[Node]:
    """Fold as many elements as a variable says, all of them below zero, and compute with the variable."""
    e.asked.variables["n"] = Variable(low=1, high=5, value=3)
    e.asked.bound["n"] = 4
    part = e.asked.moved("shrink", (3, "n"), e.buf(-1 - np.arange(15).reshape(3, 5), e.signed), ((0, 3), (0, "n")))
    value = e.asked.add("var", (), "int32", device="d0", arg="n")
    folds = [
        e.asked.add("reduce", (3,), part.dtype, part, arg=(1,), fold=word) for word in ("max", "min", "mul", "add")
    ]
    return [*folds, e.alu("mul", value, value), e.alu("add", value, e.const(1, value))]


PATTERNS: Final[Mapping[str, Pattern]] = {
    **_table(),
    "buffers alike": _buffers_alike,
    "assigned from itself": _assigned_from_itself,
    "value before an assign": _value_before_assign,
    "parts copied": _parts_copied,
    "one argument twice": _one_argument_twice,
    "bound variable": _bound,
    **VIEWS,
}
"""Every pattern by its name."""


def edges(draw: Draw, turn: int) -> GraphCase:
    """Draw the case of a turn: its patterns go on where those of the turn before ended."""
    every = [*PATTERNS.values()]
    words = Words(dtypes=(), alu=(), folds=(), steps=(), regime="small", plain=True)
    asked = Asked(draw, words)
    edge = Edge(asked, draw(choices.sampled_from(INTEGERS)), draw(choices.sampled_from(FLOATS)))
    # Of the cases before it those apart hold no pattern.
    before = turn - turn // APART
    places = range(before * TOGETHER, (before + 1) * TOGETHER)
    # An index that is no element's leaves all values of a case open: a case of its own.
    listed = [outside] if turn % APART == APART - 1 else [every[number % len(every)] for number in places]
    for pattern in listed:
        asked.wanted += [node.id for node in pattern(edge)]
    last = [*asked.wanted]
    asked.close(tuple(asked.buffers))
    if turn % 2:
        _again(asked, last)
    return asked.case()


def _again(asked: Asked, last: list[str]) -> None:
    """List every node again under another name, on other contents, and ask for the old values and the new ones."""
    names: dict[str, str] = {}
    for node in [*asked.nodes]:
        if node.op == "buf":
            continue
        made = replace(node, id=f"n{len(asked.nodes)}", of=tuple(names.get(each, each) for each in node.of))
        names[node.id] = made.id
        asked.nodes.append(made)
    for name, held in asked.buffers.items():
        # Other values at every place, of the same dtype: those of the mirrored place.
        asked.writes[name] = from_array(np.ascontiguousarray(np.flip(to_array(held))))
    # No round gives the variable now: it has the value that the graph gives it.
    asked.bound.clear()
    late = [node for node in asked.nodes if node.id in names and node.id not in last and node.op in ("alu", "cast")]
    fixed = [node.id for node in late if not any(isinstance(extent, str) for extent in node.shape)]
    # Some of each pattern: all along the list.
    asked.wanted = [*last, *fixed[:: -(-len(fixed) // LATE) or 1], *(names.get(each, each) for each in last)]
    asked.close(tuple(asked.buffers))


def edge_case(draw: Draw) -> GraphCase | None:
    """Return the case of patterns of a seldom draw, or ``None`` for any other draw."""
    turn = seldom(draw)
    return None if turn is None else edges(draw, turn)
