"""Graphs of kinds that chains of steps seldom come to: draws at fixed numbers have one of each in turn.

Schedulers split reduces from 32,768 (tinygrad) or 65,536 terms (the native engine) on; a graph of that size takes the
judge about a second, so that few are drawn, and for certain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from conformance.cases.graph.graph import Graph, Variable, pruned
from conformance.specs.domains import choices
from conformance.specs.domains.choices import Draw
from conformance.specs.domains.steering.seldom_draws import seldom
from conformance.specs.schedules.domain.graph_nodes import SOMETIMES, GraphChain
from conformance.specs.schedules.domain.graph_words import constant, swarm, taking
from conformance.specs.schedules.domain.value_steps import elementwise, worth

ACCUMULATED: Final = {"int8": "int32", "float16": "float32", "bfloat16": "float32", "uint8": "uint32"}
"""Dtypes that are folded in a wider one."""

_LONG: Final = choices.sampled_from([(65_536,), (2, 65_536), (98_304,)])
_PLAIN: Final = choices.sampled_from(["float32", "int32", "int8"])
_NARROW: Final = choices.sampled_from(list(ACCUMULATED))


def _begun(draw: Draw, shape: tuple[int, ...], dtype: str, *devices: str) -> GraphChain:
    """Return a chain that goes on from a buffer on the first of its devices, with one like it on each other."""
    chain = GraphChain(draw, replace(draw(swarm()), dtype=dtype, other=dtype), devices, {})
    made = [chain.add("buf", shape, each, dtype, id=f"a{n}", arg=f"a{n}") for n, each in enumerate(devices)]
    chain.open.update(each.id for each in made)
    chain.on(made[0])
    return chain


def _asked(chain: GraphChain) -> Graph:
    return pruned(Graph(nodes=tuple(chain.nodes), results=(chain.head.id,)))


def _folded(draw: Draw, dtype: str, acc: str) -> Graph:
    """Draw a reduce of so many terms that it is split, perhaps of what is computed or with more computed of it."""
    chain = _begun(draw, draw(_LONG), dtype, "d0")
    if draw(SOMETIMES):
        elementwise(chain)
    at = chain.head
    fold = "add" if acc else draw(choices.sampled_from(taking(dtype, ("add", "max", "min"))))
    last = len(at.shape) - 1
    chain.on(chain.add("reduce", at.shape[:last], at.device, at.dtype, at, arg=(last,), fold=fold, acc=acc))
    if draw(SOMETIMES):
        elementwise(chain)
    return _asked(chain)


@choices.composite
def split(draw: Draw) -> Graph:
    """Draw a long reduce that folds in its own dtype."""
    return _folded(draw, draw(_PLAIN), "")


@choices.composite
def split_wide(draw: Draw) -> Graph:
    """Draw a long reduce that folds in a wider dtype than its own."""
    dtype = draw(_NARROW)
    return _folded(draw, dtype, ACCUMULATED[dtype])


@choices.composite
def copied_constant(draw: Draw) -> Graph:
    """Draw a constant that is copied to another device and used there."""
    chain = _begun(draw, draw(choices.sampled_from([(4,), (2, 3)])), draw(_PLAIN), "d0", "d1")
    at, there = chain.nodes
    made = chain.add("const", at.shape, at.device, at.dtype, arg=constant(draw, at.dtype))
    moved = chain.add("copy", at.shape, there.device, at.dtype, made)
    chain.on(there)
    chain.same("alu", moved, arg=draw(choices.sampled_from(taking(chain.head.dtype, ("add", "mul", "max")))))
    return _asked(chain)


@choices.composite
def copied_back(draw: Draw) -> Graph:
    """Draw a value, of a buffer or computed, that is copied to another device and back, and used."""
    chain = _begun(draw, draw(choices.sampled_from([(4,), (2, 3)])), draw(_PLAIN), "d0", "d1")
    here, there = chain.nodes
    if draw(SOMETIMES):
        elementwise(chain)
    for device in (there.device, here.device):
        chain.on(chain.add("copy", here.shape, device, here.dtype, chain.head))
    chain.same("alu", here, arg=draw(choices.sampled_from(taking(chain.head.dtype, ("add", "mul", "max")))))
    return _asked(chain)


@choices.composite
def padded_constant(draw: Draw) -> Graph:
    """Draw a constant that a pad puts zeros beside, a function of it and another, and what a buffer makes of that."""
    chain = _begun(draw, (4,), draw(_PLAIN), "d0")
    at = chain.head
    like = at.shape, at.device, at.dtype
    one, other = (
        chain.add("const", shape, at.device, at.dtype, arg=constant(draw, at.dtype)) for shape in ((2,), at.shape)
    )
    padded = chain.moved("pad", at.shape, one, ((1, 1),))
    words = choices.sampled_from(taking(at.dtype, ("add", "mul", "max")))
    both = chain.add("alu", *like, padded, other, arg=draw(words))
    alone = taking(at.dtype, ("recip", "sqrt", "neg", "exp2", "trunc", "log2", "sin", "abs", "not"))
    made = chain.add("alu", *like, both, arg=draw(choices.sampled_from(alone)))
    turned = chain.moved("flip", at.shape, made, (0,))
    last = chain.add("alu", *like, at, turned, arg=draw(words))
    results = draw(choices.subsets([padded.id, both.id, turned.id]))
    return pruned(Graph(nodes=tuple(chain.nodes), results=(last.id, made.id, *results)))


@choices.composite
def of_sizes(draw: Draw) -> Graph:
    """Draw a sum over extents that are variables, scaled and shifted by them: one kernel may serve all their values."""
    dtype = draw(choices.sampled_from(["float32", "int32", "int64", "float64"]))
    both, values = draw(choices.booleans()), list[int]()
    chain = _begun(draw, (8, 6), dtype, "d0")
    for name, high in (("n", 8), ("m", 6))[: 1 + both]:
        low = draw(choices.integers(2, 3))
        # Of equal values a kernel may have one constant.
        free = [value for value in range(low, high + 1) if value not in values]
        values.append(draw(choices.sampled_from(free)))
        chain.variables[name] = Variable(low=low, high=high, value=values[-1])
    shape = ("n", "m" if both else 6)
    chain.on(chain.moved("shrink", shape, chain.head, ((0, "n"), (0, shape[1]))))
    words = draw(choices.permutations(["mul", "add", "sub"]))
    for name, word in zip(sorted(chain.variables), words, strict=False):
        _sized(chain, name, word)
    chain.on(chain.add("reduce", shape[1:], "d0", dtype, chain.head, arg=(0,), fold="add"))
    _sized(chain, draw(choices.sampled_from(sorted(chain.variables))), words[-1])
    return pruned(Graph(nodes=tuple(chain.nodes), results=(chain.head.id,), variables=chain.variables))


def _sized(chain: GraphChain, name: str, word: str) -> None:
    """Go on with an operation on the head and the value of a variable."""
    at = chain.head
    made = worth(chain, name)
    made = made if at.dtype == "int32" else chain.add("cast", (), at.device, at.dtype, made)
    made = chain.moved("expand", at.shape, chain.moved("reshape", (1,) * len(at.shape), made))
    chain.on(chain.add("alu", at.shape, at.device, at.dtype, at, made, arg=word))


KINDS: Final[Mapping[str, Callable[[], choices.Choice[Graph]]]] = {
    "split": split,
    "of sizes": of_sizes,
    "split wide": split_wide,
    "constant copied": copied_constant,
    "copied back": copied_back,
    "constant padded": padded_constant,
}
"""What each kind is drawn from."""


def seldom_graph(draw: Draw) -> Graph | None:
    """Return a graph of one of the kinds, in turn, or ``None`` for a draw at another number."""
    turn = seldom(draw)
    return None if turn is None else draw(list(KINDS.values())[turn % len(KINDS)]())
