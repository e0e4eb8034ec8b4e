"""Values of storage that changes: computed before, asked for at once or late, and computed again afterwards.

An entry is a way to compute a value (some compute nothing), a view of storage, and a way in which the storage changes.
What caches of nodes know too little of, and what is read later than it should be, shows in one of its values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any, Final

import numpy as np
from msgspec.structs import replace

from conformance.cases.graph.graph import Function, Node, Variable
from conformance.specs.graphs.domain.listing import Listing
from conformance.specs.graphs.domain.neighbours.moves import FORMS

Entry = tuple[Any, ...]

Way = Callable[[Listing, Node], Node]


def _gathered(e: Listing, of: Node) -> Node:
    count = int(str(of.shape[0]))
    index = e.buf(range(count), "int32")
    return e.asked.add("gather", of.shape, of.dtype, of, index, arg=0)


def _called(e: Listing, of: Node) -> Node:
    """Call a function that computes nothing: its result is its parameter's value, converted to its own dtype."""
    name = f"same {'x'.join(map(str, of.shape))} {of.dtype}"
    rest: dict[str, Any] = {"shape": of.shape, "dtype": of.dtype, "device": of.device}
    e.asked.functions[name] = Function(
        nodes=(Node(id="p", op="param", arg=0, **rest), Node(id="q", op="cast", of=("p",), **rest)), result="q"
    )
    return e.asked.add("call", of.shape, of.dtype, of, arg=name)


def _first_of_one(e: Listing, of: Node) -> Node:
    whole = e.asked.moved("reshape", (*of.shape, 1), of)
    return e.fold("max", whole, len(of.shape))


WAYS: Final[Mapping[str, Way]] = {
    "not": lambda e, of: e.alu("not", of),
    "added to itself": lambda e, of: e.alu("add", of, of),
    "greater of itself": lambda e, of: e.alu("max", of, of),
    "nothing added": lambda e, of: e.alu("add", of, e.const(0, of)),
    "times one": lambda e, of: e.alu("mul", e.const(1, of), of),
    "chosen of itself": lambda e, of: e.alu("where", e.alu("lt", of, of), of, of),
    "cast": lambda e, of: e.cast(of, "float64"),
    "cast to itself": lambda e, of: e.cast(of, of.dtype),
    "bits of itself": lambda e, of: e.asked.add("bitcast", of.shape, of.dtype, of),
    "kept": lambda e, of: e.asked.add("contig", of.shape, of.dtype, of),
    "copied": lambda e, of: e.asked.add("copy", of.shape, of.dtype, of, device="d0"),
    "fold": lambda e, of: e.fold("max", of, 0),
    "fold of one": _first_of_one,
    "gathered": _gathered,
    "called": _called,
}
"""How a value is made of a view of storage; most of them change nothing."""

VIEWS: Final[Mapping[str, Way]] = {
    "whole": lambda e, of: of,
    "flipped": lambda e, of: e.flip(of, 1),
    "part of the turned": lambda e, of: e.shrink(e.turn(of, 1, 0), (1, 4), (0, 3)),
    "padded": lambda e, of: e.pad(of, (0, 1), (1, 0)),
    "another name": lambda e, of: e.asked.add("buf", of.shape, of.dtype, device="d0", arg=of.arg),
}

CHANGES: Final = ("assigned", "a part assigned", "assigned from itself", "written")

TIMES: Final[tuple[Entry, ...]] = tuple(("value", *entry) for entry in product(WAYS, VIEWS, CHANGES))

VARIABLES: Final[tuple[Entry, ...]] = tuple(
    ("symbolic", way, change) for way, change in product(("not", "cast", "fold", "kept", "called"), CHANGES)
)

ALIKE: Final[tuple[Entry, ...]] = tuple(("alike", number) for number in range(10))

TARGETS: Final[Mapping[str, Way]] = {
    "whole": lambda e, of: of,
    "turned": lambda e, of: e.turn(of, 1, 0),
    "flipped": lambda e, of: e.flip(of, 0),
    "backwards": lambda e, of: e.stride(of, -1, 2),
    "part": lambda e, of: e.shrink(of, (1, 4), (0, 3)),
    "part of the turned": lambda e, of: e.shrink(e.turn(of, 1, 0), (0, 2), (1, 4)),
    "line": lambda e, of: e.shrink(e.asked.moved("reshape", (16,), of), (3, 11)),
}
"""Views that are assigned to."""

MOVED: Final = (
    *("turned over", "first cut off", "every second", "backwards by threes", "flipped", "one axis", "last axis split"),
)
"""Movements that name storage: what is assigned to each of each goes through two maps."""

VALUES: Final = (
    *("other", "itself moved", "computed of itself", "computed of itself moved", "constant", "thrice"),
    *("seen between", "moved before, seen between"),
)
"""What is assigned to them; of the last two a second assign takes their place, after a view of them was read."""

ASSIGNS: Final[tuple[Entry, ...]] = (
    *(("assign", *pair) for pair in product(TARGETS, VALUES)),
    *(("assign to moved", *pair) for pair in product(MOVED, MOVED)),
)

EVERY: Final = (*TIMES, *ASSIGNS, *ALIKE)


def times(e: Listing, entries: Sequence[tuple[int, Entry]]) -> tuple[list[Node], list[Node]]:
    """List the entries, each with its number; return what to ask for in this round, and what in the next one."""
    now: list[Node] = []
    later: list[Node] = []
    for number, (kind, *rest) in entries:
        if kind in _AT_ONCE:
            now += _AT_ONCE[kind](e, *rest)
            continue
        found, late = _symbolic(e, number, *rest) if kind == "symbolic" else _value(e, number, *rest)
        now += found
        later += late
    return now, later


def _assigned_to_moved(e: Listing, first: str, then: str) -> list[Node]:
    """Assign to movement of movement of storage, and read all of it."""
    held = e.buf(np.arange(24).reshape(4, 6), e.whole)
    at = FORMS[then](e, FORMS[first](e, held))
    shape = tuple(int(extent) for extent in at.shape)
    e.assign(at, e.buf(np.arange(30, 30 + int(np.prod(shape))).reshape(shape), held.dtype))
    return [held]


def _assigned(e: Listing, target: str, value: str) -> list[Node]:
    """Assign to a view, read a value of the storage from before and what the storage holds then."""
    held = e.buf(np.arange(16).reshape(4, 4), e.whole)
    before = e.alu("not", e.turn(held, 1, 0))
    at = TARGETS[target](e, held)
    shape = tuple(int(extent) for extent in at.shape)
    own = e.flip(at, *range(len(shape)))
    other = e.buf(np.arange(20, 20 + int(np.prod(shape))).reshape(shape), held.dtype)
    made: Mapping[str, Callable[[], Node]] = {
        "other": lambda: other,
        "itself moved": lambda: own,
        "computed of itself": lambda: e.alu("add", at, at),
        "computed of itself moved": lambda: e.alu("sub", own, at),
        "constant": lambda: e.const(7, at),
    }
    twice = value in ("seen between", "moved before, seen between")
    # A view that was named before the assign is no reason to keep what it was.
    seen = e.flip(e.turn(held, 1, 0), 1) if value == "moved before, seen between" else at
    done = e.assign(at, made.get(value, lambda: other)())
    if twice:
        between = [e.alu("not", seen), e.fold("max", seen, 0)]
        whole = e.buf(np.arange(40, 56).reshape(4, 4), held.dtype)
        e.assign(*((at, e.alu("not", other)) if value == "seen between" else (held, whole)))
        return [before, *between, done, held]
    if value == "thrice":
        e.assign(held, e.alu("add", held, held))
        e.assign(TARGETS[target](e, held), e.alu("not", other))
    return [before, done, held, e.alu("not", e.flip(held, 1))]


def _value(e: Listing, number: int, way: str, view: str, change: str) -> tuple[list[Node], list[Node]]:
    """List one entry on storage of its own: the value before and after the change, asked for now or in the next one."""
    # An odd number of bytes now and then: what is written by words must not lose the last one.
    shape, dtype = ((3, 5), "uint8") if number % 4 == 3 else ((3, 4), e.whole)
    held = e.buf(np.arange(shape[0] * shape[1]).reshape(shape) * 7 % 11 + number % 5, dtype)
    seen = VIEWS[view](e, held)
    before = WAYS[way](e, seen)
    _changed(e, held, change)
    after = [WAYS[way](e, seen)] if change != "written" else []
    # Of three entries one asks for its value when it is made, one later, and one at both times.
    now, late = (([before], []), ([], [before]), ([before], [before]))[number % 3]
    return [*now, *after], [*late, *after, seen]


def _changed(e: Listing, held: Node, change: str) -> None:
    shape = tuple(int(extent) for extent in held.shape)
    if change == "assigned":
        e.assign(held, e.buf(np.arange(20, 20 + int(np.prod(shape))).reshape(shape), held.dtype))
    elif change == "a part assigned":
        e.assign(e.shrink(held, (1, 3), (1, 3)), e.buf(np.arange(20, 24).reshape(2, 2), held.dtype))
    elif change == "assigned from itself":
        e.assign(held, e.alu("not", e.flip(held, 0, 1)))


def _symbolic(e: Listing, number: int, way: str, change: str) -> tuple[list[Node], list[Node]]:
    """List one entry on as many columns as a variable says, which a function is told too."""
    bind(e)
    held = e.buf(-1 - np.arange(15).reshape(3, 5) * 4 % 15, e.signed)
    seen = e.asked.moved("shrink", (3, "n"), held, ((0, 3), (0, "n")))
    if way == "called":
        before = _told(e, held)
        _changed(e, held, change)
        return [before, _told(e, held)], [before] if number % 2 else []
    before = WAYS[way](e, seen)
    _changed(e, held, change)
    return [before, WAYS[way](e, seen)], []


def bind(e: Listing) -> None:
    """Have the variable, which is another number in the first round than where no round says."""
    e.asked.variables["n"] = Variable(low=1, high=5, value=3)
    e.asked.bound["n"] = 4


def bound_again(e: Listing) -> None:
    """List, in a round with another number for the variable, what it is, is told to and cuts off, and ask for that."""
    value = e.asked.add("var", (), "int32", device="d0", arg="n")
    held = e.buf(np.arange(15).reshape(3, 5) + 1, "int32")
    part = e.asked.moved("shrink", (3, "n"), held, ((0, 3), (0, "n")))
    e.asked.wanted += [e.alu("mul", value, value).id, e.fold("add", part, 0, 1).id]
    for node in [node for node in e.asked.nodes if node.op == "call" and str(node.arg).startswith("told")]:
        made = replace(node, id=f"n{len(e.asked.nodes)}")
        e.asked.nodes.append(made)
        e.asked.wanted.append(made.id)


def _told(e: Listing, of: Node) -> Node:
    """Call a function that folds as many columns as the variable says, and adds the variable."""
    name = f"told {of.dtype}"
    rest: dict[str, Any] = {"dtype": of.dtype, "device": "d0"}
    part = Node(id="q", op="shrink", of=("p",), arg=((0, 3), (0, "n")), shape=(3, "n"), **rest)
    nodes = (
        Node(id="p", op="param", arg=0, shape=(3, 5), **rest),
        part,
        Node(id="r", op="reduce", of=("q",), arg=(1,), fold="min", shape=(3,), **rest),
        Node(id="v", op="var", arg="n", shape=(), dtype="int32", device="d0"),
        Node(id="c", op="cast", of=("v",), shape=(), **rest),
        Node(id="w", op="reshape", of=("c",), shape=(1,), **rest),
        Node(id="x", op="expand", of=("w",), shape=(3,), **rest),
        Node(id="y", op="alu", of=("r", "x"), arg="sub", shape=(3,), **rest),
    )
    e.asked.functions[name] = Function(nodes=nodes, result="y")
    return e.asked.add("call", (3,), of.dtype, of, arg=name)


def _alike(e: Listing, number: int) -> list[Node]:
    """List nodes that differ in one thing: a constant's sign or dtype, an axis, an order, a fold, a size, a name."""
    held, other = (e.buf(np.arange(9).reshape(3, 3) * step % 9, e.whole) for step in (2, 5))
    real = e.buf([0.0, -0.0, 1.5, -2.5], "float32")
    kinds: tuple[Callable[[], list[Node]], ...] = (
        lambda: [e.alu("recip", e.alu("mul", real, e.const(value, real))) for value in (0.0, -0.0, 1.0, -1.0)],
        lambda: [e.alu("max", real, e.const(value, real)) for value in (np.nan, np.inf, -np.inf, 0.0)],
        lambda: [e.cast(e.const(1, each), "float64") for each in (held, real)],
        lambda: [e.alu(word, *pair) for word in ("sub", "lt") for pair in ((held, other), (other, held))],
        lambda: [e.fold(word, held, axis) for word in ("add", "max", "min", "mul") for axis in (0, 1)],
        lambda: [e.pad(held, *sides) for sides in (((1, 0), (0, 1)), ((0, 1), (1, 0)), ((1, 0), (1, 0)))],
        lambda: [e.asked.add("iota", (3, 3), e.whole, device="d0", arg=axis) for axis in (0, 1)],
        lambda: [
            e.asked.add("gather", (2, 3) if axis == 0 else (3, 2), e.whole, held, e.buf([2, 0], "int32"), arg=axis)
            for axis in (0, 1)
        ],
        lambda: [e.alu("not", e.asked.moved("expand", (3, 3), e.shrink(held, *part))) for part in _LINES],
        lambda: [e.cast(e.asked.add("bitcast", (4,), dtype, real), "float64") for dtype in ("int32", "uint32")],
    )
    return kinds[number]()


_LINES: Final = (((0, 1), (0, 3)), ((0, 3), (0, 1)), ((1, 2), (0, 3)))

_AT_ONCE: Final[Mapping[str, Callable[..., list[Node]]]] = {
    "alike": _alike,
    "assign": _assigned,
    "assign to moved": _assigned_to_moved,
}
