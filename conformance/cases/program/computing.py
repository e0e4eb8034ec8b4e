"""Steps that compute on each rank alone, as nodes of a graph: what they take, what they give and which operands fit.

``alu`` (as many inputs as its operation ``op`` takes) is an elementwise operation, ``cast`` (one input) a conversion
``to`` a dtype, ``fold`` (one input) combines the elements along ``axes`` by ``op``, and ``dot`` (two inputs) contracts
the last axis of the first with the first axis of the second. ``fold`` and ``dot`` compute in the dtype ``acc`` where
they name one, and round to that of their operands once, at the end. Each gives one fresh value. The operations are
those of ``conformance.cases.graph.elementwise``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, get_args

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.graph.elementwise import ARITY, COMPARISONS
from conformance.cases.graph.fit import FOLDS, check_arity, check_dtype, shape_of, unfit
from conformance.cases.graph.graph import Node
from conformance.cases.program.program import COMPUTING, Program, Step
from conformance.cases.tensor.dtypes import NUMPY, Kind, kind

ATTRIBUTES: Final = {"alu": ("op",), "cast": ("to",), "fold": ("op", "axes", "acc"), "dot": ("acc",)}
"""The attributes of each step that computes; ``acc`` may be left out."""

MOST_OF_NOTHING: Final = 1 << 12
"""Elements that a fold gives, at most, on a rank whose operand has none: their number follows from no data."""

MOST_PRODUCTS: Final = 1 << 20
"""Products of one dot on one rank, at most."""

WORDS: Final = (*ARITY, "cast", *(f"fold {name}" for name in FOLDS), "dot")
"""What a step computes, in one word or two."""


class Block(NamedTuple):
    """What a rank holds of a value: its dtype and its shape."""

    dtype: str
    shape: tuple[int, ...]


def words(*named: str, kinds: tuple[str, ...] = get_args(Kind)) -> tuple[str, ...]:
    """Return the words of claims for some steps on operands of some kinds: ``add of float``."""
    return tuple(f"{name} of {each}" for name in named for each in kinds)


OF_NOTHING: Final = tuple(f"fold {name} of nothing" for name in FOLDS)
"""The words of claims for folds in programs of which some input has no elements."""

ALL_WORDS: Final = (*words(*WORDS), *OF_NOTHING)
"""Every word of the feature ``computes``."""


def computes(program: Program) -> bool:
    """Return whether some step of the program computes."""
    return any(step.op in COMPUTING for step in program.steps)


def word(step: Step) -> str:
    """Return what a step computes, one of ``WORDS``."""
    return f"fold {step.attrs['op']}" if step.op == "fold" else str(step.attrs.get("op", step.op))


def check(where: str, step: Step) -> None:
    """Raise ``CaseError``, one line that begins with ``where``, unless the step has what its operation takes."""
    known = ATTRIBUTES[step.op]
    if strange := sorted(set(step.attrs) - set(known)):
        raise CaseError(f"{where} has no attribute {strange[0]!r}; it has {', '.join(known)}")
    if missing := [name for name in known if name != "acc" and name not in step.attrs]:
        raise CaseError(f"{where} needs the attribute {missing[0]!r}")
    if step.axes or step.groups is not None or step.into or step.start:
        raise CaseError(f"{where} computes on each rank alone: it has no mesh axes, no groups, no target and no start")
    _check_words(where, step)
    wanted = ARITY[str(step.attrs["op"])] if step.op == "alu" else 2 if step.op == "dot" else 1
    if (len(step.inputs), len(step.outputs)) != (wanted, 1):
        raise CaseError(
            f"{where} has {len(step.inputs)} inputs and {len(step.outputs)} outputs, where {wanted} and 1 are right"
        )


def _check_words(where: str, step: Step) -> None:
    """Refuse an attribute that is no word, or no axes, of what is known."""
    words = {"alu": tuple(ARITY), "fold": FOLDS}.get(step.op, ())
    if words and step.attrs["op"] not in words:
        raise CaseError(f"{where}: {step.attrs['op']!r} is no operation; known are {', '.join(words)}")
    for name in ("to", "acc"):
        if name in step.attrs and step.attrs[name] not in NUMPY:
            raise CaseError(f"{where}: {name} is a dtype, and {step.attrs[name]!r} is none")
    axes = step.attrs.get("axes", ())
    if not isinstance(axes, tuple | list) or not all(type(axis) is int and axis >= 0 for axis in axes):
        raise CaseError(f"{where} needs axes as distinct numbers of at least 0, got {axes!r}")
    if len(set(axes)) < len(axes):
        raise CaseError(f"{where} names an axis twice in {list(axes)}")


def nodes(where: str, step: Step, operands: Sequence[Node], name: str) -> list[Node]:
    """Return the nodes of a step on one rank, in order: its value is the last, called ``name``.

    ``operands`` are what it takes, in shapes of numbers. Raise ``CaseError``, one line that begins with ``where``, for
    operands that do not fit.
    """
    try:
        made = _MAKERS[step.op](step, list(operands), name)
        known = {node.id: node for node in (*operands, *made)}
        for node in made:
            _check(node, [known[source] for source in node.of])
    except ValueError as error:
        raise CaseError(f"{where}: {error}") from None
    return made


def made_of(where: str, step: Step, operands: Sequence[Block]) -> Block:
    """Return what a rank holds of the value of a step; raise ``CaseError`` as ``nodes`` does."""
    given = [leaf(f"{number}", each) for number, each in enumerate(operands)]
    last = nodes(where, step, given, "made")[-1]
    return Block(last.dtype, tuple(int(extent) for extent in last.shape))


def leaf(name: str, block: Block) -> Node:
    """Return a node that stands for an operand."""
    return Node(id=name, op="buf", shape=block.shape, dtype=block.dtype, device="")


def _check(node: Node, of: list[Node]) -> None:
    check_arity(node, of)
    check_dtype(node, of, mixed=False)
    given = [tuple(int(extent) for extent in source.shape) for source in of]
    if len(set(given)) > 1:
        raise ValueError(f"its operands have the shapes {' and '.join(str(list(shape)) for shape in given)}")
    if shape_of(node, given[0], {}) != node.shape:
        raise ValueError(f"it does not fit the shape {list(given[0])}{unfit(node, given[0], {})}")
    count, taken = math.prod(map(int, node.shape)), math.prod(given[0])
    if node.op == "reduce" and not taken and count > MOST_OF_NOTHING:
        raise ValueError(f"it makes {count} elements of none; at most {MOST_OF_NOTHING} are allowed")
    if node.op == "expand" and count > MOST_PRODUCTS:
        raise ValueError(f"it has {count} products; at most {MOST_PRODUCTS} are allowed")


def _alu(step: Step, operands: list[Node], name: str) -> list[Node]:
    last, op = operands[-1], str(step.attrs["op"])
    dtype = "bool" if op in COMPARISONS else last.dtype
    return [_node(last, name, "alu", operands, dtype=dtype, arg=op)]


def _cast(step: Step, operands: list[Node], name: str) -> list[Node]:
    return [_node(operands[0], name, "cast", operands, dtype=str(step.attrs["to"]))]


def _fold(step: Step, operands: list[Node], name: str) -> list[Node]:
    axes, (taken,) = _axes(step), operands
    shape = tuple(extent for axis, extent in enumerate(taken.shape) if axis not in axes)
    acc = str(step.attrs.get("acc") or "")
    return [_node(taken, name, "reduce", operands, shape=shape, arg=axes, fold=str(step.attrs["op"]), acc=acc)]


def _dot(step: Step, operands: list[Node], name: str) -> list[Node]:
    """Return the products of all pairs along the axis that both have, and their sums.

    Where there is an ``acc`` the operands are converted to it before.
    """
    left, right = operands
    if left.dtype != right.dtype:
        raise ValueError(f"its operands have the dtypes {left.dtype} and {right.dtype}; they must be alike")
    if not left.shape or not right.shape or left.shape[-1] != right.shape[0]:
        raise ValueError(
            f"the last axis of {list(left.shape)} and the first of {list(right.shape)} must be there, of one extent"
        )
    acc = str(step.attrs.get("acc") or "")
    if acc:
        # That it holds the operands is checked where the sum is.
        _check(_node(left, name, "reduce", [left], shape=left.shape, arg=(), fold="add", acc=acc), [left])
    rows, columns = left.shape[:-1], right.shape[1:]
    whole = (*rows, *left.shape[-1:], *columns)
    made: list[Node] = []

    def add(before: Node, part: str, op: Any, **fields: Any) -> Node:
        made.append(_node(before, f"{part} of {name}", op, [before], **fields))
        return made[-1]

    sides = []
    for part, side, shape in (
        ("left", left, (*left.shape, *(1 for _ in columns))),
        ("right", right, (*(1 for _ in rows), *right.shape)),
    ):
        held = add(side, f"{part} in {acc}", "cast", dtype=acc) if acc and acc != side.dtype else side
        apart = add(held, f"{part} beside", "reshape", shape=shape)
        sides.append(add(apart, f"{part} everywhere", "expand", shape=whole))
    made.append(_node(sides[0], f"products of {name}", "alu", sides, arg="mul"))
    rounded = bool(acc) and acc != left.dtype
    total = f"sum of {name}" if rounded else name
    made.append(_node(made[-1], total, "reduce", made[-1:], shape=(*rows, *columns), arg=(len(rows),), fold="add"))
    if rounded:
        made.append(_node(made[-1], name, "cast", made[-1:], dtype=left.dtype))
    return made


def _node(like: Node, name: str, op: Any, of: Sequence[Node], **fields: Any) -> Node:
    plain = Node(
        id=name, op=op, of=tuple(each.id for each in of), shape=like.shape, dtype=like.dtype, device=like.device
    )
    return msgspec.structs.replace(plain, **fields)


def _axes(step: Step) -> tuple[int, ...]:
    axes: Any = step.attrs["axes"]
    return tuple(axes)


_MAKERS: Final = {"alu": _alu, "cast": _cast, "fold": _fold, "dot": _dot}


def kind_word(step: Step, dtype: str) -> str:
    """Return the word of claims for what a step computes on operands of a dtype: ``add of float``."""
    return f"{word(step)} of {kind(dtype)}"
