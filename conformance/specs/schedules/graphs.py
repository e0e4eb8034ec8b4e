"""Random graphs for lazy engines: buffers on a few devices, what is made of them, and writes to parts of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from conformance.cases.dtypes import NUMPY
from conformance.cases.graph import Graph, Movement, Node, Variable, pruned
from conformance.cases.index_map import Dim, sizes
from conformance.cases.tensor import from_array
from conformance.specs import choose

SHAPES: Final = ((4,), (3,), (2, 3), (2, 2), (1, 4), (2, 1, 3))
DTYPES: Final = ("float32", "float32", "int32")
WORDS: Final = ("neg", "abs", "add", "mul", "max", "sub")
MOVES: Final[tuple[Movement, ...]] = ("reshape", "permute", "expand", "pad", "shrink", "flip")
LENGTH: Final = 8
"""Steps of a graph at most: every way in which tinygrad was found to fail needs fewer."""

MOST: Final = 64
"""Elements of what a movement makes, at most."""

_DEVICES: Final = choose.sampled_from([1, 1, 2, 2, 3, 4])
_LENGTH: Final = choose.sampled_from([3, 4, 5, 2, 6, 7, 8])
_RESULTS: Final = choose.integers(1, 3)
_EACH: Final = ["alu", "alu", "alu", "move", "move", "assign", "assign", "reduce", "contig", "copy", "all_reduce"]
_STEPS: Final = choose.sampled_from(_EACH)
_SYMBOLIC: Final = choose.sampled_from([*_EACH, "narrow", "narrow", "narrow", "scalar", "scalar"])
_VARIABLES: Final = choose.sampled_from([(), (), (), ("n",), ("n", "m")])


@dataclass
class _Asked:
    """The nodes so far.

    ``open`` names those that are storage which may be assigned to, element by element, ``bare`` those that are made of
    a variable alone, which no engine computes by themselves.
    """

    draw: choose.Draw
    dtype: str
    devices: tuple[str, ...]
    variables: dict[str, Variable]
    nodes: list[Node] = field(default_factory=list)
    open: set[str] = field(default_factory=set)
    bare: set[str] = field(default_factory=set)

    @property
    def most(self) -> dict[str, int]:
        """Return the greatest value of each variable."""
        return {name: variable.high for name, variable in self.variables.items()}

    def add(self, op: Any, shape: tuple[Dim, ...], device: str, *of: Node, **rest: Any) -> Node:
        """Add a node of that shape on a device."""
        name, dtype = rest.pop("id", f"n{len(self.nodes)}"), rest.pop("dtype", self.dtype)
        made = Node(id=name, op=op, of=tuple(each.id for each in of), shape=shape, dtype=dtype, device=device, **rest)
        self.nodes.append(made)
        return made

    def pick(self, wanted: Callable[[Node], bool] = lambda node: True) -> Node:
        """Draw a node, the last ones first."""
        worth = [node for node in reversed(self.nodes) if node.op != "const" and node.id not in self.bare]
        found = [node for node in worth if wanted(node)]
        return found[self.draw(choose.integers(0, len(found) - 1))]

    def like(self, node: Node) -> Node:
        """Draw a node of the shape and on the device of another, or a constant."""
        found = [each for each in self.nodes if _kind(each) == (node.shape, self.dtype, node.device)]
        number = self.draw(choose.integers(0, len(found)))
        if number < len(found):
            return found[number]
        value = from_array(np.array(self.draw(choose.integers(1, 3)), NUMPY[self.dtype]))
        return self.add("const", node.shape, node.device, arg=value)

    def alu(self) -> None:
        """Draw an elementwise operation."""
        word = self.draw(choose.sampled_from(WORDS))
        first = self.pick()
        others = () if word in ("neg", "abs") else (self.like(first),)
        self.add("alu", first.shape, first.device, first, *others, arg=word)

    def move(self) -> None:
        """Draw movement of anything that has an axis."""
        source, op = self.pick(lambda node: bool(node.shape)), self.draw(choose.sampled_from(MOVES))
        shape = source.shape
        arg: Any = None
        target = shape
        if op == "reshape":
            flat = [] if any(isinstance(extent, str) for extent in shape) else [(math.prod(sizes(shape, {})),)]
            target = self.draw(choose.sampled_from([*flat, (*shape, 1), (1, *shape), shape[::-1]]))
        elif op == "permute":
            arg = tuple(self.draw(choose.permutations(range(len(shape)))))
            target = tuple(shape[axis] for axis in arg)
        elif op == "expand":
            target = tuple(2 if extent == 1 else extent for extent in shape)
        elif op in ("pad", "shrink"):
            pairs = [self._around(op, extent) for extent in shape]
            arg, target = tuple(pair for pair, _ in pairs), tuple(extent for _, extent in pairs)
        else:
            arg = (self.draw(choose.integers(0, len(shape) - 1)),)
        if math.prod(sizes(target, self.most)) <= MOST:
            self._moved(op, target, source, arg)

    def _around(self, op: str, extent: Dim) -> tuple[tuple[Dim, Dim], Dim]:
        """Draw what a pad adds around an axis, or which range of it a shrink keeps, and the extent after it."""
        if isinstance(extent, str):
            return ((0, 0) if op == "pad" else (0, extent)), extent
        if op == "pad":
            before, after = self.draw(choose.integers(0, 1)), self.draw(choose.integers(0, 1))
            return (before, after), before + extent + after
        first = self.draw(choose.integers(0, extent - 1))
        beyond = self.draw(choose.integers(first + 1, extent))
        return (first, beyond), beyond - first

    def _moved(self, op: Movement, shape: tuple[Dim, ...], source: Node, arg: Any) -> None:
        node = self.add(op, shape, source.device, source, arg=arg)
        if source.id in self.open and op not in ("pad", "expand"):
            self.open.add(node.id)

    def narrow(self) -> None:
        """Draw a shrink of an axis to as many elements as a variable says."""
        name = self.draw(choose.sampled_from(sorted(self.variables)))
        most = self.variables[name].high
        source = self.pick(lambda node: any(isinstance(extent, int) and extent >= most for extent in node.shape))
        fitting = [axis for axis, extent in enumerate(source.shape) if isinstance(extent, int) and extent >= most]
        target = list(source.shape)
        target[self.draw(choose.sampled_from(fitting))] = name
        self._moved("shrink", tuple(target), source, tuple((0, extent) for extent in target))

    def scalar(self) -> None:
        """Draw an elementwise operation of a value and a variable."""
        first = self.pick()
        made = self.add(
            "var", (), first.device, dtype="int32", arg=self.draw(choose.sampled_from(sorted(self.variables)))
        )
        self.bare.add(made.id)
        if self.dtype != made.dtype:
            made = self.add("cast", (), first.device, made)
            self.bare.add(made.id)
        if first.shape:
            for op, shape in (("reshape", (1,) * len(first.shape)), ("expand", first.shape)):
                made = self.add(op, shape, first.device, made)
                self.bare.add(made.id)
        word = self.draw(choose.sampled_from(["add", "mul", "max", "sub"]))
        self.add("alu", first.shape, first.device, first, made, arg=word)

    def assign(self) -> None:
        """Draw a write to a buffer or to a view of one."""
        target = self.pick(lambda node: node.id in self.open)
        made = self.add("assign", target.shape, target.device, target, self.like(target))
        self.open.add(made.id)

    def reduce(self) -> None:
        """Draw a fold of some axes."""
        source = self.pick(lambda node: bool(node.shape))
        shape = source.shape
        axes = tuple(sorted(self.draw(choose.subsets(range(len(shape))))))
        kept = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
        fold = self.draw(choose.sampled_from(["add", "max"]))
        self.add("reduce", kept, source.device, source, arg=axes, fold=fold)

    def contig(self) -> None:
        """Draw a value made contiguous."""
        source = self.pick()
        self.add("contig", source.shape, source.device, source)

    def copy(self) -> None:
        """Draw a copy to a device, which may be the same, and may be forced."""
        source, device = self.pick(), self.draw(choose.sampled_from(self.devices))
        self.add("copy", source.shape, device, source, arg=self.draw(choose.sampled_from([None, True])))

    def all_reduce(self) -> None:
        """Draw a sum or a maximum of a value of each device, on each of them."""
        first = self.pick()
        of = [first]
        for device in self.devices:
            alike = [node for node in self.nodes if _kind(node) == (first.shape, self.dtype, device)]
            if device != first.device and alike:
                of.append(alike[self.draw(choose.integers(0, len(alike) - 1))])
        of.sort(key=lambda node: self.devices.index(node.device))
        if len(of) > 1:
            fold = self.draw(choose.sampled_from(["add", "max"]))
            for node in of:
                self.add("all_reduce", first.shape, node.device, *of, fold=fold)


def _kind(node: Node) -> tuple[tuple[Dim, ...], str, str]:
    return node.shape, node.dtype, node.device


@choose.composite
def _variable(draw: choose.Draw, shape: tuple[int, ...]) -> Variable:
    """Draw what an extent of a shape may be narrowed to: never to nothing, of which a maximum is not legal."""
    high = draw(choose.sampled_from([extent for extent in shape if extent > 1]))
    low = draw(choose.integers(1, high))
    return Variable(low=low, high=high, value=draw(choose.integers(low, high)))


@choose.composite
def graphs(draw: choose.Draw) -> Graph:
    """Draw a graph: buffers of one shape on 1 to 4 devices, up to ``LENGTH`` steps, and several results.

    Some have one or two variables, as extents and as values.
    """
    devices, shape = tuple(f"d{number}" for number in range(draw(_DEVICES))), draw(choose.sampled_from(SHAPES))
    variables = {name: draw(_variable(shape)) for name in draw(_VARIABLES)}
    asked = _Asked(draw, draw(choose.sampled_from(DTYPES)), devices, variables)
    for number, device in enumerate(devices):
        for name in ("a", "b")[: 1 + (number == 0)]:
            made = asked.add("buf", shape, device, id=f"{name}{number}", arg=f"{name}{number}")
            asked.open.add(made.id)
    for _ in range(draw(_LENGTH)):
        getattr(asked, draw(_SYMBOLIC if variables else _STEPS))()
    computed = [node for node in reversed(asked.nodes) if node.op not in ("buf", "const")]
    made_of = [node for node in computed if node.id not in asked.bare] or asked.nodes
    results = dict.fromkeys(made_of[draw(choose.integers(0, len(made_of) - 1))].id for _ in range(draw(_RESULTS)))
    if draw(choose.booleans()):
        # On all devices: few engines reduce to some of them alone.
        results |= dict.fromkeys(node.id for node in asked.nodes if node.op == "all_reduce")
    return pruned(Graph(nodes=tuple(asked.nodes), results=tuple(results), variables=variables))
