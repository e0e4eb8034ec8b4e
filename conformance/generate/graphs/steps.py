"""The steps of the grammar: each goes on from the head of the chain, and says whether there was one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from conformance.cases.graph.elementwise import ARITY, COMPARISONS
from conformance.cases.graph.graph import Function, Node
from conformance.cases.graph.promotion import promoted
from conformance.cases.tensor.dtypes import DRAWN, DTYPES, NUMPY, kind
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.generate import choices
from conformance.generate.graphs.graph_draft import GraphDraft, chance
from conformance.generate.graphs.meetings import meet
from conformance.generate.graphs.movement_steps import assign, expand, narrow, pad, reshape, turn, window
from conformance.generate.graphs.vocabulary import taking

WIDER: Final = {
    "float16": "float32",
    "bfloat16": "float32",
    "float8_e4m3fn": "float32",
    "float8_e5m2": "float32",
    "float32": "float64",
    "int8": "int32",
    "int16": "int64",
    "int32": "int64",
    "uint8": "uint32",
}
"""A dtype in which sums of another may accumulate."""


def elementwise(asked: GraphDraft) -> bool:
    """Go on with an operation on the head, or on it and another value, which may have another dtype."""
    at = asked.head
    words = [word for word in taking(at.dtype, asked.swarm.alu) if word not in COMPARISONS and word != "where"]
    if not words:
        return False
    word = asked.draw(choices.sampled_from(words))
    if ARITY[word] == 1:
        return asked.same("alu", arg=word)
    if asked.mixed and chance(asked.draw, 6) and (mixed := _mixed(asked, word)) is not None:
        return asked.on(mixed)
    other = asked.fitted(at)
    if word in ("div", "mod") and kind(at.dtype) == "integer":
        # A division by zero, or one that overflows, is nothing that can be relied on, and ends some processes.
        return asked.same("alu", _above_zero(asked, other), arg=word)
    pair = (other, at) if chance(asked.draw, 3) else (at, other)
    return asked.on(asked.add("alu", at.shape, at.dtype, *pair, arg=word))


def _mixed(asked: GraphDraft, word: str) -> Node | None:
    """Return an operation on the head and a value of another dtype, if both can be converted to one that has it."""
    at = asked.head
    dtypes = [each for each in asked.swarm.dtypes if each != at.dtype and promoted((each, at.dtype))]
    dtypes = [each for each in dtypes if taking(promoted((each, at.dtype)) or "", (word,))]
    if word == "sub":
        # NumPy and PyTorch have no difference with a bool.
        dtypes = [each for each in dtypes if "bool" not in (each, at.dtype)]
    if word in ("div", "mod"):
        dtypes = [each for each in dtypes if kind(promoted((each, at.dtype)) or "") == "float"]
    if not dtypes:
        return None
    dtype = asked.draw(choices.sampled_from(dtypes))
    return asked.add("alu", at.shape, promoted((dtype, at.dtype)) or "", at, asked.fitted(at, dtype), arg=word)


def _above_zero(asked: GraphDraft, value: Node) -> Node:
    """Return the greater of an integer and 1, or the less of it and -2."""
    below = not value.dtype.startswith("u") and chance(asked.draw, 2)
    bound = asked.add(
        "const", value.shape, value.dtype, device=value.device, arg=_number(-2 if below else 1, value.dtype)
    )
    return asked.add("alu", value.shape, value.dtype, value, bound, arg="min" if below else "max")


def compare(asked: GraphDraft) -> bool:
    """Go on with a comparison, and often with a choice by it."""
    at = asked.head
    word = asked.draw(choices.sampled_from(taking(at.dtype, ("lt", "ne", "eq"))))
    made = asked.add("alu", at.shape, "bool", at, asked.fitted(at), arg=word)
    if chance(asked.draw, 3):
        return asked.on(made)
    return asked.on(asked.add("alu", at.shape, at.dtype, made, asked.fitted(at), asked.fitted(at), arg="where"))


def convert(asked: GraphDraft) -> bool:
    """Go on with the head in another dtype, or with its bits as one."""
    at = asked.head
    bits = DTYPES[at.dtype].bits
    alike = [each for each in DRAWN if DTYPES[each].bits == bits and each != at.dtype and _bits(each, at.dtype)]
    if alike and chance(asked.draw, 3):
        return asked.on(asked.add("bitcast", at.shape, asked.draw(choices.sampled_from(alike)), at))
    dtypes = [each for each in (*asked.swarm.dtypes, "float32", "int32", "bool") if each != at.dtype]
    if kind(at.dtype) == "complex":
        dtypes = [each for each in dtypes if kind(each) == "complex"]
    if not dtypes:
        return False
    return asked.on(asked.add("cast", at.shape, asked.draw(choices.sampled_from(dtypes)), at))


def _bits(one: str, other: str) -> bool:
    """Return whether the bits of each of two dtypes are a value of the other."""
    return not {"bool", "int4", "uint4"} & {one, other} and kind(one) != "complex" != kind(other)


def reduce(asked: GraphDraft) -> bool:
    """Go on with a fold of one axis or several, some in a wider dtype."""
    at = asked.head
    folds = taking(at.dtype, asked.swarm.folds) or (("or",) if at.dtype == "bool" else ("add",))
    if not at.shape:
        return False
    axes = sorted(asked.draw(choices.subsets(range(len(at.shape)))) if chance(asked.draw, 3) else [_axis(asked)])
    fold = asked.draw(choices.sampled_from(folds))
    acc = WIDER.get(at.dtype, "") if fold in ("add", "mul") and chance(asked.draw, 4) else ""
    kept = tuple(extent for axis, extent in enumerate(at.shape) if axis not in axes)
    return asked.on(asked.add("reduce", kept, at.dtype, at, arg=tuple(axes), fold=fold, acc=acc))


def _axis(asked: GraphDraft) -> int:
    return asked.draw(choices.integers(0, len(asked.head.shape) - 1))


def spread(asked: GraphDraft) -> bool:
    """Go on with the head and its own fold, expanded back: what softmax, means and norms are made of."""
    at = asked.head
    if not at.shape or kind(at.dtype) == "bool" or not reduce(asked):
        return False
    made, lost = asked.head, _lost(asked)
    whole = tuple(1 if axis in lost else extent for axis, extent in enumerate(at.shape))
    back = asked.moved("expand", at.shape, asked.moved("reshape", whole, made))
    word = asked.draw(choices.sampled_from(taking(at.dtype, ("sub", "mul", "max", "add"))))
    return asked.on(asked.add("alu", at.shape, at.dtype, at, back, arg=word))


def _lost(asked: GraphDraft) -> tuple[Any, ...]:
    return asked.head.arg if isinstance(asked.head.arg, tuple) else ()


def product(asked: GraphDraft) -> bool:
    """Go on with a matrix product: of the head, expanded, and another value, expanded too, multiplied and summed."""
    at = asked.head
    if len(at.shape) != 2 or any(isinstance(extent, str) for extent in at.shape) or kind(at.dtype) == "bool":
        return False
    rows, inner = (int(str(extent)) for extent in at.shape)
    columns = asked.draw(choices.sampled_from([2, 1, 3]))
    if rows * inner * columns > 96:
        return False
    like = Node(id="", op="buf", shape=(inner, columns), dtype=at.dtype, device=at.device)
    other = asked.fitted(like)
    left = asked.moved("expand", (rows, inner, columns), asked.moved("reshape", (rows, inner, 1), at))
    right = asked.moved("expand", (rows, inner, columns), asked.moved("reshape", (1, inner, columns), other))
    both = asked.add("alu", left.shape, at.dtype, left, right, arg="mul")
    acc = WIDER.get(at.dtype, "") if chance(asked.draw, 3) else ""
    return asked.on(asked.add("reduce", (rows, columns), at.dtype, both, arg=(1,), fold="add", acc=acc))


def gather(asked: GraphDraft) -> bool:
    """Go on with the elements along an axis that a few indices number, seldom one out of range."""
    at, draw = asked.head, asked.draw
    fixed = [axis for axis, extent in enumerate(at.shape) if isinstance(extent, int) and extent > 0]
    if not fixed:
        return False
    axis = draw(choices.sampled_from(fixed))
    extent = int(str(at.shape[axis]))
    count = draw(choices.sampled_from([2, 3, 1, 4]))
    holding = [each for each in ("uint8", "int8") if np.iinfo(NUMPY[each]).max >= max(extent - 1, count)]
    dtype = draw(choices.sampled_from(["int32", "int64", "int32", *holding]))
    line = asked.add("iota", (count,), dtype, device=at.device, arg=0)
    top = asked.add("const", (count,), dtype, device=at.device, arg=_number(extent - 1, dtype))
    index = asked.add("alu", (count,), dtype, top, line, arg="sub") if chance(draw, 2) else line
    if not chance(draw, 12):
        zero = asked.add("const", (count,), dtype, device=at.device, arg=_number(0, dtype))
        index = asked.add("alu", (count,), dtype, index, top, arg="min")
        index = asked.add("alu", (count,), dtype, index, zero, arg="max")
    if chance(draw, 3) and count % 2 == 0:
        index = asked.moved("reshape", (count // 2, 2), index)
    shape = (*at.shape[:axis], *index.shape, *at.shape[axis + 1 :])
    return asked.room(shape) and asked.on(asked.add("gather", shape, at.dtype, at, index, arg=axis))


def _number(value: int, dtype: str) -> Tensor:
    return from_array(np.array(value, NUMPY[dtype]))


def keep(asked: GraphDraft) -> bool:
    """Go on with a value that is made contiguous, or detached."""
    at = asked.head
    if chance(asked.draw, 3):
        return asked.on(asked.moved("detach", at.shape, at))
    return asked.same("contig")


def called(asked: GraphDraft) -> bool:
    """Go on with one of the two results of a function of the head and another value."""
    at, name = asked.head, f"f{len(asked.functions)}"
    binary = [word for word in taking(at.dtype, asked.swarm.alu) if ARITY[word] == 2 and word not in COMPARISONS]
    binary = [word for word in binary if kind(at.dtype) != "integer" or word not in ("div", "mod")]
    words = binary or [*taking(at.dtype, ("max",)), "eq"][:1]
    word = asked.draw(choices.sampled_from(words))
    dtype = "bool" if word == "eq" else at.dtype
    known = asked.functions and chance(asked.draw, 2)
    rest = {"shape": at.shape, "device": at.device}
    inner = tuple(Node(id=f"p{n}", op="param", arg=n, dtype=at.dtype, **rest) for n in range(2))  # type: ignore[arg-type]
    made = (
        Node(id="r", op="alu", of=("p0", "p1"), arg=word, dtype=dtype, **rest),  # type: ignore[arg-type]
        Node(id="s", op="alu", of=("p1", "p0"), arg=word, dtype=dtype, **rest),  # type: ignore[arg-type]
    )
    function = Function(nodes=(*inner, *made), result="r", more=("s",))
    same = next((old for old, each in asked.functions.items() if each == function), name) if known else name
    asked.functions[same] = function
    call = asked.add("call", at.shape, dtype, at, asked.fitted(at), arg=same)
    return asked.on(asked.add("item", at.shape, dtype, call, arg=1) if chance(asked.draw, 2) else call)


def variable(asked: GraphDraft) -> bool:
    """Go on with the sum or product of the head and a variable."""
    at = asked.head
    if not asked.variables or kind(at.dtype) in ("bool", "complex"):
        return False
    name = asked.draw(choices.sampled_from(sorted(asked.variables)))
    made = asked.add("var", (), "int32", device=at.device, arg=name)
    made = made if at.dtype == "int32" else asked.add("cast", (), at.dtype, made)
    if at.shape:
        made = asked.moved("expand", at.shape, asked.moved("reshape", (1,) * len(at.shape), made))
    word = asked.draw(choices.sampled_from(taking(at.dtype, ("add", "mul", "max"))))
    return asked.same("alu", made, arg=word)


def cross(asked: GraphDraft) -> bool:
    """Go on with what a device receives where several meet, or with a copy on another device, or on the same."""
    if chance(asked.draw, 2) and meet(asked):
        return True
    device = asked.draw(choices.sampled_from(sorted({"d0", *(node.device for node in asked.nodes)})))
    return asked.same("copy", device=device)


STEPS: Final[Mapping[str, Callable[[GraphDraft], bool]]] = {
    "elementwise": elementwise,
    "compare": compare,
    "convert": convert,
    "reduce": reduce,
    "spread": spread,
    "product": product,
    "reshape": reshape,
    "turn": turn,
    "window": window,
    "pad": pad,
    "expand": expand,
    "gather": gather,
    "keep": keep,
    "called": called,
    "variable": variable,
    "narrow": narrow,
    "cross": cross,
    "assign": assign,
}
"""Every step by its word."""
