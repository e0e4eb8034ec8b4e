"""Random graph cases: chains of steps over a grammar, of which each draw switches parts off, in several rounds."""

from __future__ import annotations

from typing import Final, get_args

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.elementwise import ARITY, Fold
from conformance.cases.graph.graph import LEAVES, Variable
from conformance.cases.tensor.dtypes import RARE as NARROW
from conformance.cases.tensor.dtypes import kind
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.data import REGIMES, contents
from conformance.generate.graphs.graph_draft import GraphDraft, Swarm, chance
from conformance.generate.graphs.misfit_sources import misfit
from conformance.generate.graphs.rewrites import REWRITES
from conformance.generate.graphs.steps import STEPS
from conformance.generate.graphs.vocabulary import DTYPES
from conformance.generate.graphs.wrong_movement import moved_wrong
from conformance.generate.grow import grow, words_of
from conformance.reference.situations import dtype_word

SHAPES: Final = ((2, 3), (4,), (3, 2, 2), (2, 1, 3), (1, 4), (8,), (5,), (1,), (4, 3), (0, 3), (12,), (), (2, 0))
"""Shapes of buffers: extents of one and of nothing among them, and one without axes."""

LONG: Final = ((17,), (33,), (4, 33), (129,), (8,), (70, 3), (3, 70), (1025,), (2, 2, 65), (40, 33))
"""Shapes longer than the vectors, the rows of work items and the unrolled loops of compilers, and not multiples."""

REGIMES_OF_EXPRESSIONS: Final = ("numberless", "zeros", "ends", "small", "wide", "below", "numberless", "ends", "real")

FEW: Final = ("elementwise", "compare", "convert", "reduce", "turn", "window", "pad", "reshape")
EXACT: Final = ("elementwise", "compare", "reduce", *("turn", "window", "pad", "reshape", "expand", "keep", "assign"))
"""Steps that round nothing, and give the dtype that they take, or bool."""

LENGTHS: Final = (8, 10, 7, 16, 9, 13, 24, 8, 36, 12, 50, 18)
"""Computed nodes and movement of a case. The longer ones cost frameworks that compile a second and more."""

RARE: Final = ("mod", "shl", "shr", "div", "log2", "sin", "trunc")
"""Operations with results that are open, or that some have no word for: in one of three draws."""


_OF_VARIABLES: Final = choices.sampled_from([("narrow",), ("variable",), ("narrow", "reduce"), ("narrow", "reduce")])
_DTYPE: Final = choices.steered(DTYPES, ("dtype",), lambda dtype: (dtype_word(dtype),))


@choices.composite
def swarms(draw: Draw) -> Swarm:
    """Draw what a case may use: two or three dtypes, and about half of all operations and steps."""
    if chance(draw, 20):
        return _moved(draw)
    first, second = draw(_DTYPE), draw(_DTYPE)
    every = [word for word in ARITY if word not in RARE or chance(draw, 3)]
    regime = draw(choices.sampled_from(REGIMES))
    steps = [step for step in STEPS if step in FEW or not chance(draw, 2)]
    return Swarm(
        dtypes=tuple(dict.fromkeys((first, second))),
        alu=tuple(draw(choices.subsets(every))),
        folds=tuple(draw(choices.subsets(get_args(Fold)))),
        steps=tuple(steps),
        regime=regime,
        plain=regime in ("small", "wide", "real"),
    )


def _moved(draw: Draw) -> Swarm:
    """Draw a dtype that few systems have, and what rounds nothing of it: no number model is declared for it."""
    dtype, extremes = draw(choices.sampled_from(NARROW)), ("max", "min")
    return Swarm(dtypes=(dtype,), alu=extremes, folds=extremes, steps=EXACT, regime="small", plain=True)


@choices.composite
def random_graphs(draw: Draw) -> GraphCase:
    """Draw a case: buffers, a chain of steps that forks and joins, and one to four rounds."""
    asked = begun(draw, draw(swarms()))
    length = draw(choices.sampled_from(LENGTHS))
    rounds = draw(choices.sampled_from([1, 2, 1, 3, 1, 2, 4])) if length > 5 else 1
    ends = {length * at // rounds for at in range(1, rounds)}
    made = 0
    while made < length:
        before = len(asked.nodes)
        if chance(draw, 4):
            asked.head = asked.pick()
        grow(asked, STEPS, words_of(draw, asked.swarm.steps), plain="elementwise")
        made += max(1, sum(node.op not in LEAVES for node in asked.nodes[before:]))
        if ends and made >= min(ends):
            ends.discard(min(ends))
            end(asked)
            begin(asked)
    end(asked)
    return asked.case()


def begun(draw: Draw, using: Swarm, *, fixed: bool = False) -> GraphDraft:
    """Return a case of two to four buffers, on up to three devices, and seldom, unless it is ``fixed``, a variable."""
    asked = GraphDraft(draw, using)
    shape = draw(choices.sampled_from(SHAPES))
    devices = ("d0", "d1", "d2")[: draw(choices.integers(1, 3)) if "cross" in using.steps else 1]
    for number in range(draw(choices.sampled_from([2, 3, 2, 4]))):
        dtype = using.dtypes[number % len(using.dtypes)]
        asked.buffer(
            draw(choices.sampled_from([shape, shape, *SHAPES])) if number >= len(devices) else shape,
            dtype,
            devices[number % len(devices)],
        )
    if not fixed and chance(draw, 4):
        # A round may write and read what no node names.
        asked.buffers[f"b{len(asked.buffers)}"] = draw(contents(shape, using.dtypes[0], using.regime))
    asked.head = asked.nodes[0]
    if not fixed and chance(draw, 3) and bind(asked, "n", shape):
        asked.bound["n"] = asked.variables["n"].value
        grow(asked, STEPS, draw(_OF_VARIABLES))
        asked.wanted.append(asked.head.id)
    return asked


def bind(asked: GraphDraft, name: str, shape: tuple[int, ...]) -> bool:
    """Let there be a variable that an extent of a shape may be narrowed to, if there is one above 1."""
    extents = [extent for extent in shape if extent > 1]
    if extents:
        high = asked.draw(choices.sampled_from(extents))
        low = asked.draw(choices.integers(1, high))
        asked.variables[name] = Variable(low=low, high=high, value=asked.draw(choices.integers(low, high)))
    return bool(extents)


def begin(asked: GraphDraft) -> None:
    """Begin another round: bind variables anew, and write into buffers."""
    draw = asked.draw
    for name, each in asked.variables.items():
        asked.bound[name] = draw(choices.integers(each.low, each.high))
        if chance(draw, 3):
            # Then it has its own value again, not that of the round before.
            del asked.bound[name]
    for name, held in asked.buffers.items():
        if chance(draw, 3):
            asked.writes[name] = draw(contents(held.shape, held.dtype, asked.swarm.regime))
    if any(isinstance(extent, str) for extent in asked.head.shape) and asked.head.id not in asked.fresh:
        asked.head = asked.pick()


def end(asked: GraphDraft) -> None:
    """End a round: ask for the last node, and for some of all the others, older ones too; read what was written."""
    draw = asked.draw
    made = [node for node in asked.nodes if node.op not in LEAVES]
    made = made or asked.nodes
    wanted = [asked.head] if asked.head in asked.nodes else [made[-1]]
    wanted += [made[draw.source.below(len(made))] for _ in range(draw(choices.integers(0, 3)))]
    if chance(draw, 6):
        wanted = []
    asked.wanted += [node.id for node in wanted]
    listed = dict.fromkeys(asked.written) if chance(draw, 2) else {}
    named = {str(node.arg) for node in asked.nodes if node.op == "buf"}
    others = {name: None for name in asked.buffers if name not in named or chance(draw, 6)}
    asked.close(tuple({**listed, **others}))


@choices.composite
def several(draw: Draw) -> GraphCase:
    """Draw many short expressions, each asked for by itself, on data of their own; now and then in two rounds.

    Most are of what a compiler would like to rewrite (``rewrites``), every kind once before one comes again.
    Together they cost about as much as one graph, and none hides what another does.
    """
    using = draw(swarms())
    third = draw(choices.sampled_from(DTYPES))
    using = with_data(using, "small", (*using.dtypes, third))
    asked = GraphDraft(draw, using)
    shapes = LONG if chance(draw, 4) else SHAPES
    deck = draw(choices.permutations(tuple(REWRITES.values())))
    for number in range(draw(choices.sampled_from([14, 12, 16, 10]))):
        _begin_expression(asked, using, draw(choices.sampled_from(shapes)), number)
        if not deck[number % len(deck)](asked):
            STEPS["elementwise"](asked)
        for _ in range(draw(choices.sampled_from([0, 1, 0, 2]))):
            step = STEPS[draw(choices.sampled_from(using.steps))] if chance(draw, 2) else None
            if not (step or draw(choices.sampled_from(deck)))(asked):
                STEPS["elementwise"](asked)
        asked.wanted.append(asked.head.id)
    asked.wanted = [*dict.fromkeys(asked.wanted)]
    last = [*asked.wanted]
    asked.close(tuple(dict.fromkeys(asked.written)))
    if chance(draw, 3):
        begin(asked)
        asked.wanted += last
        asked.close(tuple(dict.fromkeys(asked.written)))
    return asked.case()


def _begin_expression(asked: GraphDraft, using: Swarm, shape: tuple[int, ...], number: int) -> None:
    """Go on from new data: a buffer, seldom another name of one that is there, or a count."""
    draw, dtype = asked.draw, using.dtypes[number % len(using.dtypes)]
    asked.swarm = with_data(using, draw(choices.sampled_from(REGIMES_OF_EXPRESSIONS)), using.dtypes)
    way = draw(choices.integers(0, 9))
    held = [node for node in asked.nodes if node.op == "buf"]
    if way == 9 and shape and kind(dtype) in ("integer", "float"):
        asked.head = asked.add("iota", shape, dtype, device="d0", arg=draw(choices.integers(0, len(shape) - 1)))
    elif way == 8 and held:
        one = held[draw.source.below(len(held))]
        asked.head = asked.add("buf", one.shape, one.dtype, device=one.device, arg=one.arg)
        asked.open.add(asked.head.id)
    else:
        asked.head = asked.buffer(shape, dtype)


def with_data(using: Swarm, regime: str, dtypes: tuple[str, ...]) -> Swarm:
    """Return the swarm with other data and dtypes, and with constants that are dangerous to fold."""
    return using._replace(dtypes=tuple(dict.fromkeys(dtypes)), regime=regime, plain=False)


@choices.composite
def illegal(draw: Draw) -> GraphCase:
    """Draw a short case that ends in movement that leaves its source, or in a source that does not fit."""
    asked = begun(draw, draw(swarms()), fixed=True)
    if chance(draw, 3):
        asked.wanted = [misfit(draw, asked).id]
        asked.close(())
        return asked.case()
    rare = draw(choices.sampled_from([None] * 6 + ["int4", "uint4", "complex64", "complex128"]))
    asked.head = asked.buffer((2, 3), rare or asked.swarm.dtypes[0])
    grow(asked, STEPS, words_of(draw, ("elementwise", "turn", "keep"), 0 if rare else draw(choices.integers(0, 2))))
    asked.wanted = [moved_wrong(draw, asked, asked.head).id]
    asked.close(())
    return asked.case()
