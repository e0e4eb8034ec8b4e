"""Expressions that a compiler would like to rewrite: what is true of numbers is not true of every element.

Each goes on from the head of the chain, and says whether there was one. They are pairs of steps that undo each other,
an operation on one value twice, a constant that changes nothing or everything, and movement beside a fold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, get_args

import ml_dtypes
import numpy as np

from conformance.cases.graph.elementwise import ARITY, COMPARISONS, Fold
from conformance.cases.graph.graph import Function, Node
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.generate import choices
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.movement_steps import pad, reshape, turn, window
from conformance.generate.graphs.vocabulary import DTYPES, taking
from conformance.reference.exactness import parts_of

UNDOING: Final = (("add", "sub"), ("sub", "add"), ("mul", "div"), ("div", "mul"), ("xor", "xor"), ("shl", "shr"))
"""Binary operations of which the second takes back what the first did with the same value, where nothing is lost."""

ITSELF: Final = ("neg", "not", "recip")
"""Operations that are their own inverse, where nothing is lost."""

AFTER: Final = (("exp2", "log2"), ("log2", "exp2"), ("sqrt", "square"), ("square", "sqrt"), ("neg", "abs"))


def twice(asked: GraphDraft) -> bool:
    """Go on with an operation that has the head as both operands."""
    at = asked.head
    words = _free_of_zero(at.dtype, _binary(asked))
    word = asked.draw(choices.sampled_from((*words, "eq", "ne", *taking(at.dtype, ("lt",)))))
    dtype = "bool" if word in COMPARISONS else at.dtype
    return asked.same("alu", at, arg=word, dtype=dtype)


def neutral(asked: GraphDraft) -> bool:
    """Go on with the head and a constant that a rule may know: a zero, a one, the ends, no number."""
    at = asked.head
    words = _free_of_zero(at.dtype, _binary(asked))
    if not words:
        return False
    word = asked.draw(choices.sampled_from(words))
    value = asked.add("const", at.shape, at.dtype, device=at.device, arg=_special(asked, at.dtype))
    # A shift by a constant on the right stays within the width; on the left the head would be the distance.
    pair = (value, at) if word not in ("shl", "shr") and chance(asked.draw, 2) else (at, value)
    if word in ("shl", "shr"):
        pair = (at, _within_width(asked, at))
    return asked.on(asked.add("alu", at.shape, at.dtype, *pair, arg=word))


def undone(asked: GraphDraft) -> bool:
    """Go on with the head after an operation and the one that takes it back."""
    at, draw = asked.head, asked.draw
    if chance(draw, 3):
        words = taking(at.dtype, ITSELF)
        if not words:
            return False
        word = draw(choices.sampled_from(words))
        return asked.on(asked.add("alu", at.shape, at.dtype, _unary(asked, at, word), arg=word))
    pairs = [pair for pair in UNDOING if len(taking(at.dtype, pair)) == 2]
    pairs = [pair for pair in pairs if kind(at.dtype) != "integer" or "div" not in pair]
    if not pairs:
        return False
    first, second = draw(choices.sampled_from(pairs))
    other = _within_width(asked, at) if first == "shl" else asked.fitted(at)
    made = asked.add("alu", at.shape, at.dtype, at, other, arg=first)
    return asked.on(asked.add("alu", at.shape, at.dtype, made, other, arg=second))


def after(asked: GraphDraft) -> bool:
    """Go on with a function of the head after one that it nearly inverts."""
    at = asked.head
    if kind(at.dtype) != "float":
        return False
    made = at
    for word in asked.draw(choices.sampled_from(AFTER)):
        square = word == "square"
        made = asked.add("alu", at.shape, at.dtype, made, *((made,) if square else ()), arg="mul" if square else word)
    return asked.on(made)


def there_and_back(asked: GraphDraft) -> bool:
    """Go on with the head in another dtype, and mostly back in its own."""
    at, draw = asked.head, asked.draw
    others = [each for each in (*asked.swarm.dtypes, *DTYPES, "int8", "uint8") if each != at.dtype]
    if kind(at.dtype) == "complex":
        return False
    made = asked.add("cast", at.shape, draw(choices.sampled_from(others)), at)
    if chance(draw, 3):
        made = asked.add("cast", at.shape, draw(choices.sampled_from(others)), made)
    return asked.on(made if chance(draw, 3) else asked.add("cast", at.shape, at.dtype, made))


def chosen(asked: GraphDraft) -> bool:
    """Go on with a choice that looks like a maximum, a clamp, a guard against NaN, or like no choice at all."""
    at, draw = asked.head, asked.draw
    other = asked.fitted(at)
    word = draw(choices.sampled_from((*taking(at.dtype, ("lt", "lt")), "ne", "eq")))
    left, right = (at, other) if chance(draw, 2) else (other, at)
    if chance(draw, 3):
        left = right = at
    condition = asked.add("alu", at.shape, "bool", left, right, arg=word)
    sides = draw(choices.sampled_from([(at, other), (other, at), (at, at)]))
    return asked.on(asked.add("alu", at.shape, at.dtype, condition, *sides, arg="where"))


def clamped(asked: GraphDraft) -> bool:
    """Go on with the greater and then the less of the head and constants, which may have changed places."""
    at = asked.head
    if len(taking(at.dtype, ("max", "min"))) < 2:
        return False
    made = at
    for word in asked.draw(choices.sampled_from([("max", "min"), ("min", "max"), ("max", "max")])):
        bound = asked.add("const", at.shape, at.dtype, device=at.device, arg=_special(asked, at.dtype))
        made = asked.add("alu", at.shape, at.dtype, made, bound, arg=word)
    return asked.on(made)


def guarded(asked: GraphDraft) -> bool:
    """Go on with a choice by a condition that has fewer axes than the values, or one element of an axis."""
    at = asked.head
    if not at.shape or any(isinstance(extent, str) for extent in at.shape):
        return False
    axis = asked.draw(choices.integers(0, len(at.shape) - 1))
    few = tuple(1 if number == axis else int(extent) for number, extent in enumerate(at.shape))
    like = Node(id="", op="buf", shape=few, dtype=at.dtype, device=at.device)
    word = asked.draw(choices.sampled_from((*taking(at.dtype, ("lt",)), "ne", "eq")))
    condition = asked.add("alu", few, "bool", asked.buffer(few, at.dtype), asked.fitted(like), arg=word)
    whole = asked.moved("expand", at.shape, condition)
    return asked.on(asked.add("alu", at.shape, at.dtype, whole, at, asked.fitted(at), arg="where"))


def again(asked: GraphDraft) -> bool:
    """Go on with a node that is listed twice, with an assign to what it reads in between; ask for both."""
    at, draw = asked.head, asked.draw
    words = [word for word in ("neg", "abs", "not", "recip") if word in taking(at.dtype, (word,))]
    if at.op != "buf" or not words or not asked.count(at.shape):
        return False
    word = draw(choices.sampled_from(words))
    asked.wanted.append(_unary(asked, at, word).id)
    asked.open.add(asked.add("assign", at.shape, at.dtype, at, asked.fitted(at)).id)
    asked.written.append(str(at.arg))
    return asked.on(_unary(asked, at, word))


def calls(asked: GraphDraft) -> bool:
    """Go on with one of three results of a function of the head, which are all asked for now and then."""
    at, draw = asked.head, asked.draw
    words = [word for word in ("neg", "abs", "not", "recip", "trunc") if word in taking(at.dtype, (word,))]
    if not words:
        return False
    rest: dict[str, Any] = {"shape": at.shape, "dtype": at.dtype, "device": at.device}
    param = Node(id="p", op="param", arg=0, **rest)
    first = Node(id="q", op="alu", of=("p",), arg=draw(choices.sampled_from(words)), **rest)
    pair = draw(choices.sampled_from(taking(at.dtype, ("max", "xor", "add", "mul", "or"))))
    made = (
        *(param, first, Node(id="r", op="alu", of=("p", "q"), arg=pair, **rest)),
        Node(id="s", op="alu", of=("q", "r"), arg=pair, **rest),
    )
    name = f"f{len(asked.functions)}"
    asked.functions[name] = Function(nodes=made, result="r", more=("q", "s"))
    call = asked.add("call", at.shape, at.dtype, at, arg=name)
    items = [call, *(asked.add("item", at.shape, at.dtype, call, arg=number) for number in (1, 2))]
    if chance(draw, 2):
        asked.wanted += [each.id for each in items]
    return asked.on(draw(choices.sampled_from(items)))


def transposed(asked: GraphDraft) -> bool:
    """Assign to storage through axes in another order, a part, or a turned view, and go on with all of it."""
    at = asked.head
    if at.op != "buf" or not asked.count(at.shape) or not at.shape:
        return False
    turn(asked)
    if chance(asked.draw, 2):
        window(asked)
    view = asked.head
    if view.id not in asked.open or not asked.count(view.shape):
        return asked.on(at)
    value = asked.fitted(view)
    asked.open.add(asked.add("assign", view.shape, view.dtype, view, value).id)
    asked.written.append(str(at.arg))
    return asked.on(at)


def shared(asked: GraphDraft) -> bool:
    """Go on with a sum of two products that share a factor, or a product of a sum."""
    at = asked.head
    if kind(at.dtype) == "bool":
        return False
    second, third = asked.fitted(at), asked.fitted(at)
    if chance(asked.draw, 2):
        both = asked.add("alu", at.shape, at.dtype, second, third, arg="add")
        return asked.same("alu", both, arg="mul")
    products = [asked.add("alu", at.shape, at.dtype, at, each, arg="mul") for each in (second, third)]
    return asked.on(asked.add("alu", at.shape, at.dtype, *products, arg="add"))


def moved_twice(asked: GraphDraft) -> bool:
    """Go on after two movements, often of one kind: what a compiler makes one of."""
    moves = (turn, window, pad, reshape)
    first = asked.draw(choices.sampled_from(moves))
    second = first if chance(asked.draw, 2) else asked.draw(choices.sampled_from(moves))
    made = first(asked)
    return second(asked) or made


def computed_between(asked: GraphDraft) -> bool:
    """Go on after movement, an operation that need not keep zero, and movement again."""
    at, draw = asked.head, asked.draw
    moves = (pad, window, turn, pad)
    draw(choices.sampled_from(moves))(asked)
    words = [word for word in taking(at.dtype, ("exp2", "recip", "not", "neg", "abs")) if word in asked.swarm.alu]
    words += ["eq"] if chance(draw, 3) else []
    at = asked.head
    if not words or words == ["eq"] or chance(draw, 2):
        neutral(asked)
    else:
        asked.on(_unary(asked, at, draw(choices.sampled_from([word for word in words if word != "eq"]))))
    return draw(choices.sampled_from(moves))(asked) or asked.head is not at


def folded_spread(asked: GraphDraft) -> bool:
    """Go on with a fold of what was repeated, padded, counted or constant, also of axes that were made by it."""
    at, draw = asked.head, asked.draw
    way = draw(choices.sampled_from(("expand", "pad", "const", "iota")))
    if way == "expand":
        whole = asked.moved("reshape", (*at.shape, 1), at)
        count = draw(choices.sampled_from([2, 3, 5, 0, 1]))
        if not asked.room((*at.shape, count)):
            return False
        at = asked.moved("expand", (*at.shape, count), whole)
    elif way == "pad":
        if not pad(asked):
            return False
        at = asked.head
    else:
        shape = at.shape or (3,)
        known = way == "iota" and kind(at.dtype) in ("integer", "float")
        axis = draw(choices.integers(0, len(shape) - 1))
        like = Node(id="", op="buf", shape=shape, dtype=at.dtype, device=at.device)
        at = asked.add("iota", shape, at.dtype, device=at.device, arg=axis) if known else asked.constant(like)
    return _fold(asked, at)


def folded_twice(asked: GraphDraft) -> bool:
    """Go on with a fold of one axis and then another, of one kind or two, or of all axes at once."""
    at = asked.head
    if len(at.shape) < 2:
        return False
    return _fold(asked, at) and _fold(asked, asked.head)


def _fold(asked: GraphDraft, at: Node) -> bool:
    draw = asked.draw
    folds = taking(at.dtype, get_args(Fold))
    if not at.shape or not folds:
        return False
    every = range(len(at.shape))
    axes = tuple(sorted(draw(choices.subsets(every)) if chance(draw, 3) else [draw(choices.sampled_from(every))]))
    kept = tuple(extent for axis, extent in enumerate(at.shape) if axis not in axes)
    fold = draw(choices.sampled_from(folds))
    return asked.on(asked.add("reduce", kept, at.dtype, at, arg=axes, fold=fold))


def _binary(asked: GraphDraft) -> tuple[str, ...]:
    words = tuple(word for word in asked.swarm.alu if ARITY[word] == 2 and word not in COMPARISONS)
    return taking(asked.head.dtype, words) or taking(asked.head.dtype, ("max", "or"))[:1]


def _free_of_zero(dtype: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the operations that mean something of any two elements: integers are divided by none that may be zero."""
    shifts = () if kind(dtype) != "integer" else ("div", "mod")
    return tuple(word for word in words if word not in shifts)


def _unary(asked: GraphDraft, at: Node, word: str) -> Node:
    return asked.add("alu", at.shape, at.dtype, at, arg=word)


def _within_width(asked: GraphDraft, at: Node) -> Node:
    bits = ml_dtypes.iinfo(NUMPY[at.dtype]).bits
    distance = asked.draw(choices.sampled_from([0, 1, bits - 1, bits // 2]))
    return asked.add("const", at.shape, at.dtype, device=at.device, arg=_number(distance, at.dtype))


def _special(asked: GraphDraft, dtype: str) -> Tensor:
    """Draw a constant that some rule is about."""
    held, draw = NUMPY[dtype], asked.draw
    if dtype == "bool":
        return _number(draw(choices.sampled_from([False, True])), dtype)
    if kind(dtype) == "integer":
        info = ml_dtypes.iinfo(held)
        return _number(draw(choices.sampled_from([0, 1, 2, int(info.max), int(info.min)])), dtype)
    one, floats = np.ones((), held), ml_dtypes.finfo(parts_of(held))
    listed: list[Any] = [one * 0, -(one * 0), one, -one, one + one, np.asarray(floats.max).astype(held)]
    if kind(dtype) == "float":
        with np.errstate(all="ignore"):
            listed += [np.asarray(each, np.float32).astype(held) for each in (np.inf, -np.inf)]
    return from_array(np.asarray(draw(choices.sampled_from(listed)), held))


def _number(value: Any, dtype: str) -> Tensor:
    return from_array(np.array(value, np.uint64 if dtype == "uint64" else None).astype(NUMPY[dtype]))


REWRITES: Final[tuple[Callable[[GraphDraft], bool], ...]] = (
    *(twice, neutral, undone, after, there_and_back, chosen, clamped, shared),
    *(moved_twice, computed_between, folded_spread, folded_twice, guarded, again, calls, transposed),
)
"""Every kind."""
