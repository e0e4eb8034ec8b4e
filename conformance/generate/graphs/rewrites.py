"""Expressions that a compiler would like to rewrite: what is true of numbers is not true of every element.

They are rows: forms of operations on the head of the chain and values like it, and steps of the vocabulary in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

import ml_dtypes
import numpy as np

from conformance.cases.graph.elementwise import ARITY, COMPARISONS
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.generate import choices
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.movement_steps import home
from conformance.generate.graphs.rewritten_steps import STEPS_OF_REWRITES
from conformance.generate.graphs.steps import STEPS
from conformance.generate.graphs.vocabulary import DTYPES, taking
from conformance.reference.schedule.data import dangerous

Form = str | tuple[Any, ...]
"""An operation on forms. ``x`` is the head, ``y`` and ``z`` are values like it, each ``c`` is a constant of some rule,
``i`` counts, ``n`` is a distance within the width, ``d`` is what may divide. ``any`` is an operation on two values.
``other`` casts to some dtype, and ``back`` to that of the head."""

DIVISORS: Final = (2, -2, 3, 4, -3, 5)
"""What divides every integer: by minus one the least has no quotient. Powers of two become shifts."""

FORMS: Final[Mapping[str, tuple[Form, ...]]] = {
    "twice": (("any", "x", "x"), ("any", "x", "x"), ("eq", "x", "x"), ("ne", "x", "x"), ("lt", "x", "x")),
    "neutral": (("any", "x", "c"), ("any", "c", "x"), ("any", "x", "i"), ("shl", "x", "n"), ("shr", "x", "n")),
    "undone": (
        *(("sub", ("add", "x", "y"), "y"), ("add", ("sub", "x", "y"), "y"), ("div", ("mul", "x", "y"), "y")),
        *(("mul", ("div", "x", "y"), "y"), ("xor", ("xor", "x", "y"), "y"), ("shr", ("shl", "x", "n"), "n")),
        *(("neg", ("neg", "x")), ("not", ("not", "x")), ("recip", ("recip", "x"))),
    ),
    "after": (
        *(("log2", ("exp2", "x")), ("exp2", ("log2", "x")), ("abs", ("neg", "x"))),
        *(("sqrt", ("mul", "x", "x")), ("mul", ("sqrt", "x"), ("sqrt", "x"))),
    ),
    "there and back": (("back", ("other", "x")), ("back", ("other", ("other", "x"))), ("other", ("other", "x"))),
    "chosen": tuple(
        ("where", (word, *pair), *sides)
        for word in ("lt", "lt", "ne", "eq")
        for pair in (("x", "y"), ("y", "x"), ("x", "x"))
        for sides in (("x", "y"), ("y", "x"), ("x", "x"))
    ),
    "clamped": (("min", ("max", "x", "c"), "c"), ("max", ("min", "x", "c"), "c"), ("max", ("max", "x", "c"), "c")),
    "divided": (
        *(("div", "x", "d"), ("mod", "x", "d"), ("mul", ("div", "x", "d"), "d")),
        ("sub", "x", ("mul", ("div", "x", "d"), "d")),
    ),
    "rounded between": (
        *(("sub", ("mul", "x", "x"), "x"), ("add", ("mul", "x", "y"), "x"), ("mul", ("mul", "x", "x"), "x")),
        ("mul", ("add", "x", "y"), "y"),
    ),
    "shared": (("add", ("mul", "x", "y"), ("mul", "x", "z")), ("mul", "x", ("add", "y", "z"))),
}

CHAINS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "moved twice": tuple(
        (one, other) for one in ("turn", "window", "pad", "reshape") for other in (one, "turn", "pad")
    ),
    "computed between": tuple(
        (one, "applied", other) for one in ("pad", "window", "turn", "pad") for other in ("pad", "window", "turn")
    ),
    "folded spread": (("pad", "reduce"), ("expand", "reduce"), ("counted", "reduce"), ("expand", "turn", "reduce")),
    "folded twice": (("reduce", "reduce"), ("reduce", "keep", "reduce")),
    "guarded": (("counted", "compare"), ("reshape", "compare"), ("expand", "compare")),
    "assigned through": (("turn", "assigned"), ("turn", "window", "assigned"), ("window", "assigned")),
    "called": (("called",), ("called", "called")),
    "shown": (("applied", "bits"), ("elementwise", "bits"), ("transposed", "bits"), ("transposed", "bits"), ("bits",)),
    "in 16 bits": (("shortened", "rounded"), ("shortened", "applied", "rounded")),
    "folded wide": (("accumulated",), ("widened", "summed"), ("shortened", "accumulated")),
    "apart": (("apart",), ("applied", "apart")),
    "of many": (("many",), *[("elementwise",)] * 3),
    "exchanged": (("exchanged",),),
}
"""Steps of the vocabulary, and those of ``OWN``."""


def _applied(asked: GraphDraft) -> bool:
    """Go on with an operation that need not keep zero."""
    word = asked.draw(choices.sampled_from(("exp2", "recip", "not", "neg", "abs")))
    return _formed(asked, ((word, "x"),)) or _formed(asked, FORMS["neutral"])


def _counted(asked: GraphDraft) -> bool:
    """Go on from a count, or a constant, of the shape of the head."""
    at, draw = asked.head, asked.draw
    if at.shape and kind(at.dtype) in ("integer", "float") and chance(draw, 2):
        axis = draw(choices.integers(0, len(at.shape) - 1))
        return asked.on(asked.add("iota", at.shape, at.dtype, device=at.device, arg=axis))
    return asked.on(asked.constant(at))


def _assigned(asked: GraphDraft) -> bool:
    """Assign to the view of storage that the head is, and go on with all of the buffer."""
    view = asked.head
    if view.id not in asked.open or not asked.count(view.shape):
        return False
    asked.open.add(asked.add("assign", view.shape, view.dtype, view, asked.fitted(view)).id)
    asked.written.append(home(asked, view))
    return asked.on(next(node for node in asked.nodes if node.op == "buf" and node.arg == asked.written[-1]))


def _again(asked: GraphDraft) -> bool:
    """Go on with a node that is listed twice, with an assign to what it reads in between; ask for both."""
    at = asked.head
    words = taking(at.dtype, ("neg", "abs", "not", "recip"))
    if at.op != "buf" or not words or not asked.count(at.shape):
        return False
    word = asked.draw(choices.sampled_from(words))
    asked.wanted.append(asked.add("alu", at.shape, at.dtype, at, arg=word).id)
    asked.open.add(asked.add("assign", at.shape, at.dtype, at, asked.fitted(at)).id)
    asked.written.append(str(at.arg))
    return asked.same("alu", arg=word)


def _rounded(asked: GraphDraft) -> bool:
    return _formed(asked, FORMS["rounded between"])


OWN: Final[Mapping[str, Callable[[GraphDraft], bool]]] = {
    **STEPS_OF_REWRITES,
    "rounded": _rounded,
    "applied": _applied,
    "counted": _counted,
    "assigned": _assigned,
}


def _formed(asked: GraphDraft, forms: Sequence[Form]) -> bool:
    """Go on with one of several forms, if it has a meaning for the head."""
    made = _made(asked, asked.draw(choices.sampled_from(forms)), {"x": asked.head})
    return made is not None and asked.on(made)


def _made(asked: GraphDraft, form: Form, known: dict[str, Node]) -> Node | None:
    """Return the node of a form, ``None`` where an operation has no meaning for a dtype; ``known`` are its values."""
    if isinstance(form, str):
        return _leaf(asked, form, known)
    at = known["x"]
    word, *parts = form
    of = [_made(asked, part, known) for part in parts]
    values = [each for each in of if each is not None]
    if len(values) < len(of):
        return None
    dtype = values[-1].dtype
    if word in ("other", "back"):
        others = [each for each in (*asked.swarm.dtypes, *DTYPES, "int8", "uint8") if each != dtype]
        to = at.dtype if word == "back" else asked.draw(choices.sampled_from(others))
        return None if kind(dtype) == "complex" or to == dtype else asked.add("cast", at.shape, to, *values)
    if word == "any":
        words = tuple(each for each in asked.swarm.alu if ARITY[each] == 2 and each not in (*COMPARISONS, "shl", "shr"))
        word = asked.draw(choices.sampled_from(_meant(dtype, words) or ("max",)))
    if not (_meant(dtype, (word,)) or (parts[-1] == "d" and taking(dtype, (word,)))):
        return None
    return asked.add("alu", at.shape, "bool" if word in COMPARISONS else dtype, *values, arg=word)


def _leaf(asked: GraphDraft, form: str, known: dict[str, Node]) -> Node | None:
    """Return a value of a form, the same for the same letter but of constants and counts."""
    at = known["x"]
    if form in "yz" and form not in known:
        known[form] = asked.fitted(at)
    if form == "n" and form not in known and kind(at.dtype) == "integer":
        known[form] = asked.add("const", at.shape, at.dtype, device=at.device, arg=_within(asked))
    if form == "d" and form not in known and (kind(at.dtype) == "float" or "int4" not in at.dtype):
        known[form] = asked.add("const", at.shape, at.dtype, device=at.device, arg=_divisor(asked.draw, at.dtype))
    if form == "i" and at.shape and kind(at.dtype) in ("integer", "float"):
        return asked.add("iota", at.shape, at.dtype, device=at.device, arg=asked.draw.source.below(len(at.shape)))
    if form in "ci":
        return asked.add("const", at.shape, at.dtype, device=at.device, arg=_special(asked.draw, at.dtype))
    return known.get(form)


def _meant(dtype: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the operations that mean something of any two elements: integers are divided by none that may be zero."""
    undefined = ("div", "mod") if kind(dtype) == "integer" else ()
    return tuple(word for word in taking(dtype, words) if word not in undefined)


def _divisor(draw: choices.Draw, dtype: str) -> Tensor:
    found = [each for each in DIVISORS if each > 0 or kind(dtype) == "float" or not dtype.startswith("u")]
    return from_array(np.array(draw(choices.sampled_from(found))).astype(NUMPY[dtype]))


def _within(asked: GraphDraft) -> Tensor:
    held = NUMPY[asked.head.dtype]
    bits = ml_dtypes.iinfo(held).bits
    return from_array(np.array(asked.draw(choices.sampled_from([0, 1, bits - 1, bits // 2]))).astype(held))


def _special(draw: choices.Draw, dtype: str) -> Tensor:
    """Draw a constant that some rule is about: a zero, a one, the ends of the range, no number."""
    pool = np.array([False, True]) if dtype == "bool" else dangerous(dtype)[draw.source.below(3)]
    return from_array(np.array(pool[draw.source.below(len(pool))]))


def _chained(asked: GraphDraft, chains: Sequence[tuple[str, ...]]) -> bool:
    """Go on with several steps in a row, as far as there is a way."""
    at, every = asked.head, {**STEPS, **OWN}
    for word in asked.draw(choices.sampled_from(chains)):
        every[word](asked)
    return asked.head is not at


REWRITES: Final[Mapping[str, Callable[[GraphDraft], bool]]] = {
    **{kind: partial(_formed, forms=forms) for kind, forms in FORMS.items()},
    **{kind: partial(_chained, chains=chains) for kind, chains in CHAINS.items()},
    "again": _again,
}
"""Every kind; each says whether there was a way to go on."""
