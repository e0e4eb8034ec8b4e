"""Graphs that neither growth nor any row has, each for a bug that somebody had.

They take many nodes, many terms, a second round with other values of variables, or a NaN that says something.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Variable
from conformance.cases.tensor.dtypes import NUMPY
from conformance.generate import choices
from conformance.generate.choices import Choice, Draw
from conformance.generate.graphs.data import payload
from conformance.generate.graphs.graph_draft import GraphDraft, Swarm
from conformance.generate.graphs.steps import variable

_LENGTH: Final = choices.sampled_from([1100, 1300])
_TERMS: Final = choices.sampled_from([(263, 251), (1031, 67), (257, 257)])
"""Factors of more than 65,536 terms, of which no power of two is a part."""


def _begun(draw: Draw, dtype: str) -> GraphDraft:
    return GraphDraft(draw, Swarm(dtypes=(dtype,), alu=("add",), folds=("add",), steps=(), regime="small", plain=True))


@choices.composite
def long_chain(draw: Draw) -> GraphCase:
    """Draw a chain of a thousand operations and more, each of the last: exact, however it is cut into kernels.

    Schedulers recurse past the limit of the interpreter, or forget a node where they cut it.
    """
    asked = _begun(draw, dtype := draw(choices.sampled_from(["int32", "float32", "uint8"])))
    asked.head = first = asked.buffer((4,), dtype)
    other = asked.buffer((4,), dtype)
    for at in range(draw(_LENGTH)):
        # Magnitudes stay below a few hundred: every partial result is exact in float32.
        op, pair = (("sub", (other, asked.head)), ("add", (asked.head, first)), ("max", (asked.head, other)))[at % 3]
        if at % 7 == 6:
            op, pair = "min", (asked.head, first)
        asked.on(asked.add("alu", (4,), dtype, *pair, arg=op))
    asked.wanted = [asked.head.id]
    asked.close(())
    return asked.case()


@choices.composite
def long_fold(draw: Draw) -> GraphCase:
    """Draw folds of more than 65,536 terms that divide into no even parts.

    From there on they are folded in parts, whose rest is easily lost.
    """
    asked = _begun(draw, dtype := draw(choices.sampled_from(["int32", "uint8", "int64"])))
    times, terms = draw(_TERMS)
    held = asked.buffer((1, terms), dtype)
    wide = asked.moved("expand", (times, terms), held)
    for fold in ("add", "max"):
        asked.wanted.append(asked.add("reduce", (), dtype, wide, arg=(0, 1), fold=fold).id)
    asked.close(())
    return asked.case()


@choices.composite
def bound_anew(draw: Draw) -> GraphCase:
    """Draw a value of a variable that is used in two rounds or three, in each of which it is another number.

    A captured graph is replayed with the number of its first call.
    """
    asked = _begun(draw, dtype := draw(choices.sampled_from(["int32", "float32", "int16"])))
    held = asked.buffer(draw(choices.sampled_from([(3,), (2, 2), ()])), dtype)
    low = draw(choices.integers(1, 3))
    asked.variables["n"] = Variable(low=1, high=9, value=low)
    for number in range(draw(choices.integers(2, 3))):
        asked.bound["n"] = low + 2 * number
        asked.on(held)
        variable(asked)
        asked.wanted.append(asked.head.id)
        asked.close(())
    return asked.case()


@choices.composite
def bits_kept(draw: Draw) -> GraphCase:
    """Draw a NaN with a payload, moved, chosen or kept, and its bits: none of these is arithmetic."""
    asked = _begun(draw, dtype := draw(choices.sampled_from(["float16", "bfloat16", "float32", "float64"])))
    shape = draw(choices.sampled_from([(2, 3), (1,), ()]))
    other = asked.buffer(shape, dtype)
    made = asked.add("const", shape, dtype, arg=payload(draw, dtype))
    for way in draw(choices.subsets(("kept", "moved", "chosen"))):
        if way == "chosen":
            which = asked.add("alu", made.shape, "bool", made, made, arg="ne")
            made = asked.add("alu", made.shape, dtype, which, made, asked.fitted(made), arg="where")
        elif way == "moved":
            shape = tuple(int(str(n)) + 1 for n in made.shape)
            made = asked.add("pad", shape, dtype, made, arg=tuple((0, 1) for _ in shape))
        else:
            made = asked.add("contig", made.shape, dtype, made)
    shown = asked.add("bitcast", made.shape, f"int{NUMPY[dtype].itemsize * 8}", made)
    asked.wanted = [shown.id, other.id]
    asked.close(())
    return asked.case()


@dataclass(frozen=True)
class Motif:
    """Cases for a bug that somebody had: ``mutant`` is its name among those of graphs, and dies of them."""

    name: str
    mutant: str
    cases: Choice[GraphCase]


MOTIFS: Final = (
    Motif("long fold", "DropsTheRestOfParts", long_fold()),
    Motif("bound anew", "KeepsTheFirstBinding", bound_anew()),
    Motif("long chain", "LongChainsAreCut", long_chain()),
    Motif("bits kept", "NansAreOne", bits_kept()),
)


def motif_in_turn() -> Choice[GraphCase]:
    """Return the choice of a motif, each in turn."""
    return Choice(lambda draw: draw(MOTIFS[draw.turn % len(MOTIFS)].cases))
