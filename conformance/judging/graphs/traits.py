"""What the values that a graph case asks for are made of, in words, through storage and calls too.

``whole``, ``float``: elementwise operations on integers and bools, and on floats, with ``extreme`` and ``shift`` among
them; those on floats that some approximate are ``root`` and ``function``. ``choose`` is where. ``results``: other
results of a call. ``keep``: contiguous and detached. ``assign`` and ``outside``: storage that was assigned to, or
written to from outside. ``late``: the value of a node that was listed before something it read was written, and asked
for afterwards. ``again``: a computed value asked for in an earlier round too. ``kept``: a buffer that nothing wrote.
``empty``: no elements. ``storage``: a name of storage.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from conformance.cases.graph.case import GraphCase, asked_key, read_key
from conformance.cases.graph.elementwise import COMPARISONS
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import MOVEMENT, Function, Node
from conformance.cases.tensor.dtypes import kind
from conformance.judging.keyed_values import Words

NOTHING: Final[Words] = frozenset()

FUNCTIONS: Final = ("exp2", "log2", "sin")
ROOTS: Final = ("sqrt", "recip", "div")
EXTREMES: Final = ("max", "min")


@dataclass
class _Storage:
    """What a buffer is made of, and how often it was written."""

    words: Words = NOTHING
    writes: int = 0


@dataclass
class _Made:
    """What a node is made of, and how often each buffer that it read was written before. ``home`` is its storage."""

    words: Words
    seen: Mapping[str, int]
    home: str = ""


@dataclass
class _Walk:
    case: GraphCase
    storages: dict[str, _Storage]
    nodes: dict[str, Node]
    made: dict[str, _Made] = field(default_factory=dict)


def traits(case: GraphCase) -> dict[str, Words]:
    """Return for every key of a well-formed case what it is made of."""
    nodes = {node.id: node for node in case.graph.nodes}
    walk = _Walk(case, {name: _Storage() for name in case.buffers}, nodes)
    found: dict[str, Words] = {}
    before: set[str] = set()
    for number, each in enumerate(case.rounds):
        for name in each.writes:
            walk.storages[name] = _Storage(frozenset({"outside"}), walk.storages[name].writes + 1)
        bound = case.bound(number)
        for node in case.listed(number):
            walk.made[node.id] = _node(node, walk, bound)
        for name in each.asked:
            words = _asked(walk.made[name], walk)
            again = name in before and not walk.made[name].home
            found[asked_key(number, name)] = words | {"again"} if again else words
            before.add(name)
        for name in each.read:
            held = walk.storages[name]
            found[read_key(number, name)] = held.words if held.writes else frozenset({"kept"})
    return found


def _asked(made: _Made, walk: _Walk) -> Words:
    if made.home:
        return made.words | walk.storages[made.home].words | {"storage"}
    late = any(walk.storages[name].writes > writes for name, writes in made.seen.items())
    return made.words | {"late"} if late else made.words


def _node(node: Node, walk: _Walk, bound: Mapping[str, int]) -> _Made:
    of = [walk.made[name] for name in node.of]
    words = _own(node, walk.nodes, bound)
    if node.op == "buf":
        return _Made(words, {}, str(node.arg))
    if node.op == "assign":
        home, value = of[0].home, of[1]
        held = walk.storages[home]
        taken = value.words | (walk.storages[value.home].words if value.home else NOTHING)
        walk.storages[home] = _Storage(held.words | of[0].words | taken | {"assign"}, held.writes + 1)
        return _Made(of[0].words | words, {}, home)
    if node.op in MOVEMENT and of[0].home:
        return _Made(of[0].words | words, {}, of[0].home)
    if node.op == "call":
        words |= _within(str(node.arg), walk.case.graph.functions, bound)
    seen: dict[str, int] = {}
    for each in of:
        words |= each.words
        reads = dict(each.seen)
        if each.home:
            words |= walk.storages[each.home].words
            reads[each.home] = walk.storages[each.home].writes
        for name, writes in reads.items():
            seen[name] = min(writes, seen.get(name, writes))
    return _Made(words, seen)


def _within(function: str, functions: Mapping[str, Function], bound: Mapping[str, int]) -> Words:
    """Return the words of the nodes of a function, and of those that it calls."""
    words, nodes = NOTHING, {node.id: node for node in functions[function].nodes}
    for node in nodes.values():
        words |= _own(node, nodes, bound)
        if node.op == "call":
            words |= _within(str(node.arg), functions, bound)
    return words


def _own(node: Node, nodes: Mapping[str, Node], bound: Mapping[str, int]) -> Words:
    """Return the words of one node, whose sources are among these."""
    of = [nodes[name] for name in node.of]
    symbolic = any(isinstance(extent, str) for extent in node.shape)
    function, empty = str(node.arg) if node.op == "alu" else "", 0 in sizes(node.shape, bound)
    dtypes = tuple(each.dtype for each in of)
    words = _words(_Alike(node.op, function, node.dtype, node.fold, bool(node.acc), dtypes, symbolic, empty))
    folds_nothing = node.op == "reduce" and 0 in sizes(of[0].shape, bound)
    return words | {"empty_reduce"} if folds_nothing else words


class _Alike(NamedTuple):
    """What decides the words of a node."""

    op: str
    function: str
    dtype: str
    fold: str
    accumulates: bool
    dtypes: tuple[str, ...]
    symbolic: bool
    empty: bool


@lru_cache(maxsize=4096)
def _words(it: _Alike) -> Words:
    words = {"empty"} if it.empty else set[str]()
    if it.symbolic:
        words.add("symbolic")
    if it.op == "alu":
        words |= _alu(it)
    elif it.op in MOVEMENT:
        words.add({"pad": "pad", "detach": "keep"}.get(it.op, "movement"))
    elif it.op in _PLAIN:
        words.add(_PLAIN[it.op])
    if it.accumulates:
        words.add("accumulator")
    if it.fold in EXTREMES and kind(it.dtype) == "float":
        words.add("extreme")
    return frozenset(words)


_PLAIN: Final = {
    "const": "const",
    "iota": "iota",
    "var": "variable",
    "cast": "cast",
    "bitcast": "bitcast",
    "reduce": "reduce",
    "gather": "gather",
    "call": "call",
    "item": "results",
    "contig": "keep",
    "copy": "cross",
    "all_reduce": "cross",
    "collective": "cross",
}


def _alu(it: _Alike) -> set[str]:
    op = it.function
    words = {"compare"} if op in COMPARISONS else {"choose"} if op == "where" else set[str]()
    if len(set(it.dtypes[1:] if op == "where" else it.dtypes)) > 1:
        words.add("promoted")
    if op in ("shl", "shr"):
        words.add("shift")
    if not words & {"compare", "choose"} and kind(it.dtype) not in ("float", "complex"):
        words.add("whole")
    elif not words & {"compare", "choose"} and op not in (*FUNCTIONS, *ROOTS):
        words.add("float")
    if kind(it.dtype) == "float":
        listed = (("function", FUNCTIONS), ("root", ROOTS), ("extreme", EXTREMES))
        words |= {word for word, names in listed if op in names}
    return words
