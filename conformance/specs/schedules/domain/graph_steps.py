"""The steps of the grammar of drawn graphs, one for each class: each goes on from a node, the head of the chain."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import replace

from conformance.cases.graph.graph import Function, Node, Variable
from conformance.cases.schedule.index_map import Dim, sizes
from conformance.cases.schedule.kernel_body import COMPARISONS
from conformance.cases.tensor.dtypes import NUMPY, kind
from conformance.specs.domains import choose
from conformance.specs.domains.choose import Draw
from conformance.specs.schedules.domain.graph_words import DTYPES, Words, constant, taking

MOST: Final = 24
"""Elements of what a movement makes, at most, or as many as its source has: they fit a buffer of a long graph."""

MOST_AXES: Final = 6
"""Axes that no value reaches."""

Shape = tuple[Dim, ...]

COMMON: Final = ("add", "mul", "sub", "max")
"""Operations that are drawn more often: engines have most rules for them."""

_SOMETIMES: Final = choose.sampled_from([False, False, True])


@dataclass
class Steps:
    """The nodes so far, and the ``head`` from which the chain goes on.

    ``sides`` are what was made of the head beside the chain. ``open`` names those that are storage which may be
    assigned to, element by element, ``bare`` those that are made of a variable alone, which no engine computes by
    themselves.
    """

    draw: Draw
    words: Words
    devices: tuple[str, ...]
    variables: dict[str, Variable]
    nodes: list[Node] = field(default_factory=list)
    open: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)
    functions: dict[str, Function] = field(default_factory=dict)
    sides: list[str] = field(default_factory=list)
    head: Node = field(init=False)

    @property
    def most(self) -> dict[str, int]:
        """Return the greatest value of each variable."""
        return {name: variable.high for name, variable in self.variables.items()}

    def add(self, op: Any, shape: Shape, device: str, dtype: str, *of: Node, **rest: Any) -> Node:
        """Add a node of that shape on a device."""
        name = rest.pop("id", f"n{len(self.nodes)}")
        made = Node(id=name, op=op, of=tuple(each.id for each in of), shape=shape, dtype=dtype, device=device, **rest)
        self.nodes.append(made)
        return made

    def on(self, made: Node) -> bool:
        """Go on from a node."""
        self.head = made
        return True

    def same(self, op: Any, *of: Node, **rest: Any) -> bool:
        """Go on from a node like the head."""
        at = self.head
        return self.on(self.add(op, at.shape, at.device, rest.pop("dtype", at.dtype), at, *of, **rest))

    def pick(self) -> Node:
        """Draw an earlier node to go on from, the last ones first."""
        found = [node for node in reversed(self.nodes) if node.op != "const" and node.id not in self.bare]
        return self.draw(choose.sampled_from(found))

    def like(self, node: Node) -> Node:
        """Draw a node of the shape, the dtype and the device of another, itself too, or a constant."""
        number = self.draw(choose.integers(0, 5))
        if number == 1 and node in self.nodes:
            return node
        found = [each for each in self.nodes if alike(each, node) and each.id not in self.bare]
        if number > 2 and found:
            return self.draw(choose.sampled_from(found[::-1]))
        return self.add("const", node.shape, node.device, node.dtype, arg=constant(self.draw, node.dtype))

    def beside(self) -> None:
        """Make something of the head that is asked for, and that the chain does not go on from."""
        at = self.head
        elementwise(self)
        self.sides.append(self.head.id)
        self.head = at

    def count(self, shape: Shape) -> int:
        """Return the elements of a shape, where variables are greatest."""
        return math.prod(sizes(shape, self.most))

    def room(self, shape: Shape) -> bool:
        """Return whether a shape is small enough to go on with."""
        return self.count(shape) <= max(MOST, self.count(self.head.shape)) and len(shape) < MOST_AXES

    def stored(self, like: Node, device: str) -> Node:
        """Return storage on a device of the shape and the dtype of a node: a part of a buffer, moved to its shape.

        Where no buffer has so many elements of the dtype there is a new one.
        """
        if any(isinstance(extent, str) for extent in like.shape):
            return self._narrowed(like, device)
        if not self.draw(_SOMETIMES) and (part := self._part(like, device)) is not None:
            return part
        wanted = self.count(like.shape)
        buffers = [node for node in self.nodes if node.op == "buf" and node.device == device]
        fitting = [node for node in buffers if node.dtype == like.dtype and self.count(node.shape) >= wanted]
        if not fitting:
            fitting = [self.buffer((wanted + 2,), device, like.dtype)]
        at = self.draw(choose.sampled_from(fitting))
        have = self.count(at.shape)
        if have != wanted:
            at = self.moved("reshape", (have,), at) if len(at.shape) != 1 else at
            first = self.draw(choose.integers(0, have - wanted))
            at = self.moved("shrink", (wanted,), at, ((first, first + wanted),))
        at = at if at.shape == like.shape else self.moved("reshape", like.shape, at)
        if self.draw(_SOMETIMES) and at.shape:
            at = self.moved("flip", at.shape, at, (self.draw(choose.integers(0, len(at.shape) - 1)),))
        return at

    def buffer(self, shape: Shape, device: str, dtype: str) -> Node:
        """Add a buffer."""
        name = f"e{len(self.nodes)}"
        made = self.add("buf", shape, device, dtype, id=name, arg=name)
        self.open.add(made.id)
        return made

    def _part(self, like: Node, device: str) -> Node | None:
        """Return a range of each axis of a buffer that has the rank of a node, if there is one that is large enough."""
        shape = sizes(like.shape, {})
        for at in reversed(self.nodes):
            fits = at.op == "buf" and len(at.shape) == len(shape) and (at.dtype, at.device) == (like.dtype, device)
            have = sizes(at.shape, {}) if fits else ()
            if fits and all(extent >= wanted for extent, wanted in zip(have, shape, strict=True)):
                firsts = [self.draw(choose.integers(0, n - wanted)) for n, wanted in zip(have, shape, strict=True)]
                pairs = tuple((first, first + wanted) for first, wanted in zip(firsts, shape, strict=True))
                return at if have == shape else self.moved("shrink", like.shape, at, pairs)
        return None

    def _narrowed(self, like: Node, device: str) -> Node:
        """Return the beginning of each axis of a buffer, as much of it as a shape with variables has."""
        for at in self.nodes:
            pairs = zip(at.shape, like.shape, strict=False)
            fits = at.op == "buf" and len(at.shape) == len(like.shape) and (at.dtype, at.device) == (like.dtype, device)
            if fits and all(self.count((have,)) >= self.count((wanted,)) for have, wanted in pairs):
                return self.moved("shrink", like.shape, at, tuple((0, extent) for extent in like.shape))
        made = self.buffer(sizes(like.shape, self.most), device, like.dtype)
        return self.moved("shrink", like.shape, made, tuple((0, extent) for extent in like.shape))

    def moved(self, op: str, shape: Shape, source: Node, arg: Any = None) -> Node:
        """Add movement of a node."""
        made = self.add(op, shape, source.device, source.dtype, source, arg=arg)
        if source.id in self.open and op not in ("pad", "expand"):
            self.open.add(made.id)
        return made


def alike(one: Node, other: Node) -> bool:
    """Return whether two nodes have one shape, dtype and device."""
    return (one.shape, one.dtype, one.device) == (other.shape, other.dtype, other.device)


def elementwise(asked: Steps) -> bool:
    """Go on with an operation on the head alone, on it and another value, or on it and a variable."""
    unary, binary = (taking(asked.head.dtype, words) for words in (asked.words.unary, asked.words.binary))
    if asked.variables and kind(asked.head.dtype) != "bool" and asked.draw(_SOMETIMES):
        return _with_variable(asked)
    words = (*binary, *binary, *(word for word in binary if word in COMMON), *unary) or ("max",)
    word = asked.draw(choose.sampled_from(words))
    return asked.same("alu", *(() if word in unary else (asked.like(asked.head),)), arg=word)


def _with_variable(asked: Steps) -> bool:
    """Go on with an operation on the head and a variable, expanded to its shape."""
    at, name = asked.head, asked.draw(choose.sampled_from(sorted(asked.variables)))
    made = asked.add("var", (), at.device, "int32", arg=name)
    asked.bare.add(made.id)
    if at.dtype != made.dtype:
        made = asked.add("cast", (), at.device, at.dtype, made)
        asked.bare.add(made.id)
    for op, shape in (("reshape", (1,) * len(at.shape)), ("expand", at.shape)) if at.shape else ():
        made = asked.add(op, shape, at.device, at.dtype, made)
        asked.bare.add(made.id)
    return asked.same("alu", made, arg=asked.draw(choose.sampled_from(["add", "mul", "max", "sub"])))


def convert(asked: Steps) -> bool:
    """Go on with a comparison, a choice or another dtype."""
    at, word = asked.head, asked.draw(choose.sampled_from(asked.words.converting))
    if word == "lt" and kind(at.dtype) == "complex":
        word = "ne"
    if word in COMPARISONS:
        return asked.same("alu", asked.like(at), arg=word, dtype="bool")
    if word == "where" and at.dtype == "bool":
        value = asked.add("const", at.shape, at.device, asked.words.dtype, arg=constant(asked.draw, asked.words.dtype))
        return asked.same("alu", asked.like(value), asked.like(value), arg="where", dtype=asked.words.dtype)
    if word == "bitcast":
        width = NUMPY[at.dtype].itemsize
        # The bits of other integers are no bools.
        wide = [each for each in dict.fromkeys(DTYPES) if NUMPY[each].itemsize == width and each != at.dtype]
        found = [each for each in wide if "bool" not in (each, at.dtype)]
        if found:
            return asked.same("bitcast", dtype=asked.draw(choose.sampled_from(found)))
    here = [each for each in (asked.words.dtype, asked.words.other) if each != at.dtype]
    # To a dtype that can be assigned to, or to any.
    anywhere = not here or asked.draw(_SOMETIMES)
    others = [each for each in dict.fromkeys(DTYPES) if each != at.dtype] if anywhere else here
    return asked.same("cast", dtype=asked.draw(choose.sampled_from(others)))


def reduce(asked: Steps) -> bool:
    """Go on with a fold of one axis, seldom of several."""
    at, rank = asked.head, len(asked.head.shape)
    folds = taking(at.dtype, asked.words.folds) or (("or",) if at.dtype == "bool" else ("max",))
    if 0 in at.shape:
        folds = tuple(fold for fold in folds if fold not in ("max", "min")) or ("add",)
    if not rank:
        return False
    axes = [asked.draw(choose.integers(0, rank - 1))]
    if rank > 2 and asked.draw(_SOMETIMES):
        axes = asked.draw(choose.subsets(range(rank)))
    kept = tuple(extent for axis, extent in enumerate(at.shape) if axis not in axes)
    fold = asked.draw(choose.sampled_from(folds))
    return asked.on(asked.add("reduce", kept, at.device, at.dtype, at, arg=tuple(axes), fold=fold))


def reshape(asked: Steps) -> bool:
    """Go on with another shape of the same elements."""
    shape = asked.head.shape
    found: list[Shape] = [(*shape, 1), (1, *shape), (*shape[:1], 1, *shape[1:])]
    if len(shape) < 2:
        # So that a reduce may follow, and more of them.
        deeper = asked.draw(choose.sampled_from([(1, *shape, 1), (1, 1, *shape), (1, *shape, 1, 1)]))
        return asked.on(asked.moved("reshape", deeper, asked.head))
    found.append(shape[::-1])
    if all(isinstance(extent, int) for extent in shape):
        count = asked.count(shape)
        found += [(count,), *((part, count // part) for part in (2, 3, 4) if count and count % part == 0)]
        found += [(2, 2, count // 4)] if count and count % 4 == 0 else []
    fitting = [each for each in found if asked.room(each) and each != shape] or [shape]
    return asked.on(asked.moved("reshape", asked.draw(choose.sampled_from(fitting)), asked.head))


def turn(asked: Steps) -> bool:
    """Go on with axes in another order, or turned round."""
    at, rank = asked.head, len(asked.head.shape)
    flips = rank == 1 or (rank > 1 and "flip" in asked.words.moves)
    if flips and ("permute" not in asked.words.moves or rank == 1 or asked.draw(choose.booleans())):
        axes = asked.draw(choose.subsets(range(rank)))
        return asked.on(asked.moved("flip", at.shape, at, tuple(axes)))
    arg = tuple(asked.draw(choose.permutations(range(rank))))
    return asked.on(asked.moved("permute", tuple(at.shape[axis] for axis in arg), at, arg))


def window(asked: Steps) -> bool:
    """Go on with a part of the head: a range of each axis, each so manieth element, or as many as a variable says."""
    at, draw = asked.head, asked.draw
    if draw(choose.booleans()) and asked.variables and _narrow(asked):
        return True
    numbers = all(isinstance(extent, int) for extent in at.shape)
    if numbers and at.shape and "stride" in asked.words.moves and draw(choose.booleans()):
        arg = tuple(draw(choose.integers(1, 2)) for _ in at.shape)
        shape = tuple(-(-int(extent) // step) for extent, step in zip(at.shape, arg, strict=True))
        return asked.on(asked.moved("stride", shape, at, arg))
    pairs = []
    for extent in at.shape:
        if isinstance(extent, str) or extent == 0:
            pairs.append(((0, extent), extent))
            continue
        # Most axes lose one element at most, so that a chain can go on.
        first = draw(choose.integers(0, min(1, extent - 1)))
        beyond = max(first + 1, extent - draw(choose.integers(0, 1)))
        pairs.append(((first, beyond), beyond - first))
    return asked.on(asked.moved("shrink", tuple(n for _, n in pairs), at, tuple(pair for pair, _ in pairs)))


def _narrow(asked: Steps) -> bool:
    """Go on with as many elements of an axis as a variable says, if an axis has as many."""
    name = asked.draw(choose.sampled_from(sorted(asked.variables)))
    at, most = asked.head, asked.variables[name].high
    fitting = [axis for axis, extent in enumerate(at.shape) if isinstance(extent, int) and extent >= most]
    if not fitting:
        return False
    target = list(at.shape)
    target[asked.draw(choose.sampled_from(fitting))] = name
    return asked.on(asked.moved("shrink", tuple(target), at, tuple((0, extent) for extent in target)))


def widen(asked: Steps) -> bool:
    """Go on with zeros around the head, or with the head several times."""
    at, draw = asked.head, asked.draw
    expanded = tuple(2 if extent == 1 else extent for extent in at.shape)
    if expanded != at.shape and asked.room(expanded) and draw(choose.booleans()):
        return asked.on(asked.moved("expand", expanded, at))
    pairs = [
        (0, 0) if isinstance(extent, str) else (draw(choose.integers(0, 1)), draw(choose.integers(0, 1)))
        for extent in at.shape
    ]
    shape = tuple(
        extent if isinstance(extent, str) else before + extent + after
        for (before, after), extent in zip(pairs, at.shape, strict=True)
    )
    if not asked.room(shape) and at.shape:
        pairs, shape = [(0, 0)] * len(pairs), at.shape
    return asked.on(asked.moved("pad", shape, at, tuple(pairs)))


def keep(asked: Steps) -> bool:
    """Go on with a value that is made contiguous, detached, or given by a function."""
    number = asked.draw(choose.integers(0, 3))
    if asked.words.calls and number:
        return _called(asked)
    if number == 3:
        return asked.on(asked.moved("detach", asked.head.shape, asked.head))
    return asked.same("contig")


def _called(asked: Steps) -> bool:
    """Go on with what a function makes of the head and of another value."""
    at, name = asked.head, f"f{len(asked.functions)}"
    arguments = (at, asked.like(at))
    inner = [
        Node(id=f"p{number}", op="param", shape=at.shape, dtype=at.dtype, device=at.device, arg=number)
        for number in range(2)
    ]
    words = taking(at.dtype, asked.words.binary) or ("max",)
    of, word = ("p0", "p1"), asked.draw(choose.sampled_from(words))
    inner.append(Node(id="r", op="alu", of=of, shape=at.shape, dtype=at.dtype, device=at.device, arg=word))
    asked.functions[name] = Function(nodes=tuple(inner), result="r")
    return asked.on(asked.add("call", at.shape, at.device, at.dtype, *arguments, arg=name))


def cross(asked: Steps) -> bool:
    """Go on with a copy, or with what one device receives when all meet."""
    at = asked.head
    if len(asked.devices) > 1 and asked.draw(choose.booleans()) and _meeting(asked):
        return True
    device, forced = asked.draw(choose.sampled_from(asked.devices)), asked.draw(choose.sampled_from(asked.words.forced))
    return asked.on(asked.add("copy", at.shape, device, at.dtype, at, arg=forced))


def _meeting(asked: Steps) -> bool:
    """Go on with a reduction over all devices of the head and of others like it, or with another collective."""
    at, of = asked.head, list[Node]()
    for device in asked.devices:
        like = replace(at, device=device)
        others = [node for node in asked.nodes if alike(node, like) and node.op != "const"]
        known = [node for node in others if node.id not in asked.bare]
        peer = at if device == at.device else known[-1] if known else asked.stored(at, device)
        of.append(peer)
    rest: dict[str, Any] = {"fold": asked.draw(choose.sampled_from(_folds(asked)))}
    op, shapes = "all_reduce", at.shape
    if asked.words.meetings and all(isinstance(extent, int) for extent in at.shape):
        op, (rest, shapes) = "collective", _collective(asked)
    made = [asked.add(op, shapes, node.device, at.dtype, *of, **rest) for node in of]
    return asked.on(made[asked.draw(choose.integers(0, len(made) - 1))])


def _folds(asked: Steps) -> list[str]:
    if asked.head.dtype == "bool":
        return ["or", "and", "max"]
    folds = [fold for fold in taking(asked.head.dtype, asked.words.folds) if fold in ("add", "max", "mul")]
    return folds or ["max"]


def _collective(asked: Steps) -> tuple[dict[str, Any], Shape]:
    """Return the arguments of a collective of the head and its like, and the shape that each device receives."""
    shape, count = asked.head.shape, len(asked.devices)
    found: list[tuple[str, dict[str, Any], Shape]] = [
        ("broadcast", {"root": count - 1}, shape),
        ("all_gather", {"axis": 0, "tiled": False}, (count, *shape)),
    ]
    if shape:
        found.append(("all_gather", {"axis": 0, "tiled": True}, (int(shape[0]) * count, *shape[1:])))
        if int(shape[0]) % count == 0:
            found.append(("all_to_all", {"split_axis": 0, "concat_axis": 0, "tiled": True}, shape))
    op, attrs, made = asked.draw(choose.sampled_from([each for each in found if asked.room(each[2])] or found[:1]))
    return {"arg": op, "attrs": attrs, "members": asked.devices}, made


def assign(asked: Steps) -> bool:
    """Go on with what is assigned to a part of a buffer, by a name of it that has the shape of the head."""
    at = asked.head
    target = asked.stored(at, at.device)
    made = asked.add("assign", target.shape, target.device, target.dtype, target, at)
    asked.open.add(made.id)
    return asked.on(made)


STEPS: Final[Mapping[str, Callable[[Steps], bool]]] = {
    "elementwise": elementwise,
    "convert": convert,
    "reduce": reduce,
    "reshape": reshape,
    "turn": turn,
    "window": window,
    "widen": widen,
    "keep": keep,
    "cross": cross,
    "assign": assign,
}
"""The step of each class; it returns whether there was one to go on with."""
