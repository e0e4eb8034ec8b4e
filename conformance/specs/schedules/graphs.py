"""Random graphs for lazy engines: buffers on a few devices, what is made of them, and writes to parts of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from hypothesis import strategies as st

from conformance.cases.dtypes import NUMPY
from conformance.cases.graph import Graph, Movement, Node, pruned
from conformance.cases.graph_form import shape_of
from conformance.cases.tensor import from_array

SHAPES: Final = ((4,), (3,), (2, 3), (2, 2), (1, 4), (2, 1, 3))
DTYPES: Final = ("float32", "float32", "int32")
WORDS: Final = ("neg", "abs", "add", "mul", "max", "sub")
MOVES: Final[tuple[Movement, ...]] = ("reshape", "permute", "expand", "pad", "shrink", "flip")
LENGTH: Final = 8
"""Steps of a graph at most: every way in which tinygrad was found to fail needs fewer."""

_DEVICES: Final = st.sampled_from([1, 1, 2, 2, 3, 4])
_LENGTH: Final = st.sampled_from([3, 4, 5, 2, 6, 7, 8])
_RESULTS: Final = st.integers(1, 3)
_STEPS: Final = st.sampled_from(
    ["alu", "alu", "alu", "move", "move", "assign", "assign", "reduce", "contig", "copy", "all_reduce"]
)


@dataclass
class _Asked:
    """The nodes so far; ``open`` names those that are storage which may be assigned to, element by element."""

    draw: st.DrawFn
    dtype: str
    devices: tuple[str, ...]
    nodes: list[Node] = field(default_factory=list)
    open: set[str] = field(default_factory=set)

    def add(self, op: Any, shape: tuple[int, ...], device: str, *of: Node, **rest: Any) -> Node:
        """Add a node of that shape on a device."""
        name = rest.pop("id", f"n{len(self.nodes)}")
        made = Node(
            id=name, op=op, of=tuple(each.id for each in of), shape=shape, dtype=self.dtype, device=device, **rest
        )
        self.nodes.append(made)
        return made

    def pick(self, wanted: Callable[[Node], bool] = lambda node: True) -> Node:
        """Draw a node, the last ones first."""
        found = [node for node in reversed(self.nodes) if node.op != "const" and wanted(node)]
        return found[self.draw(st.integers(0, len(found) - 1))]

    def like(self, node: Node) -> Node:
        """Draw a node of the shape and on the device of another, or a constant."""
        found = [each for each in self.nodes if (each.shape, each.device) == (node.shape, node.device)]
        number = self.draw(st.integers(0, len(found)))
        if number < len(found):
            return found[number]
        value = from_array(np.array(self.draw(st.integers(1, 3)), NUMPY[self.dtype]))
        return self.add("const", _shape(node), node.device, arg=value)

    def alu(self) -> None:
        """Draw an elementwise operation."""
        word = self.draw(st.sampled_from(WORDS))
        first = self.pick()
        others = () if word in ("neg", "abs") else (self.like(first),)
        self.add("alu", _shape(first), first.device, first, *others, arg=word)

    def move(self) -> None:
        """Draw movement of anything that has an axis."""
        source, op = self.pick(lambda node: bool(node.shape)), self.draw(st.sampled_from(MOVES))
        shape = _shape(source)
        arg: Any = None
        target = shape
        if op == "reshape":
            target = self.draw(st.sampled_from([(math.prod(shape),), (*shape, 1), (1, *shape), shape[::-1]]))
        elif op == "permute":
            arg = tuple(self.draw(st.permutations(range(len(shape)))))
        elif op == "expand":
            target = tuple(2 if extent == 1 else extent for extent in shape)
        elif op == "pad":
            arg = tuple((self.draw(st.integers(0, 1)), self.draw(st.integers(0, 1))) for _ in shape)
        elif op == "shrink":
            firsts = [self.draw(st.integers(0, extent - 1)) for extent in shape]
            arg = tuple(
                (first, self.draw(st.integers(first + 1, extent))) for first, extent in zip(firsts, shape, strict=True)
            )
        else:
            arg = (self.draw(st.integers(0, len(shape) - 1)),)
        made = Node(id="", op=op, shape=target, dtype=self.dtype, device=source.device, arg=arg)
        found = shape_of(made, shape, {})
        if found is None or math.prod(found) > 64:
            return
        node = self.add(op, found, source.device, source, arg=arg)
        if source.id in self.open and op not in ("pad", "expand"):
            self.open.add(node.id)

    def assign(self) -> None:
        """Draw a write to a buffer or to a view of one."""
        target = self.pick(lambda node: node.id in self.open)
        made = self.add("assign", _shape(target), target.device, target, self.like(target))
        self.open.add(made.id)

    def reduce(self) -> None:
        """Draw a fold of some axes."""
        source = self.pick(lambda node: bool(node.shape))
        shape = _shape(source)
        axes = tuple(sorted(self.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))))
        kept = tuple(extent for axis, extent in enumerate(shape) if axis not in axes)
        fold = self.draw(st.sampled_from(["add", "max"]))
        self.add("reduce", kept, source.device, source, arg=axes, fold=fold)

    def contig(self) -> None:
        """Draw a value made contiguous."""
        source = self.pick()
        self.add("contig", _shape(source), source.device, source)

    def copy(self) -> None:
        """Draw a copy to a device, which may be the same, and may be forced."""
        source, device = self.pick(), self.draw(st.sampled_from(self.devices))
        self.add("copy", _shape(source), device, source, arg=self.draw(st.sampled_from([None, True])))

    def all_reduce(self) -> None:
        """Draw a sum or a maximum of a value of each device, on each of them."""
        first = self.pick()
        of = [first]
        for device in self.devices:
            alike = [node for node in self.nodes if (node.shape, node.device) == (first.shape, device)]
            if device != first.device and alike:
                of.append(alike[self.draw(st.integers(0, len(alike) - 1))])
        of.sort(key=lambda node: self.devices.index(node.device))
        if len(of) > 1:
            fold = self.draw(st.sampled_from(["add", "max"]))
            for node in of:
                self.add("all_reduce", _shape(first), node.device, *of, fold=fold)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Draw a graph: buffers of one shape on 1 to 4 devices, up to ``LENGTH`` steps, and several results."""
    devices = tuple(f"d{number}" for number in range(draw(_DEVICES)))
    asked, shape = _Asked(draw, draw(st.sampled_from(DTYPES)), devices), draw(st.sampled_from(SHAPES))
    for number, device in enumerate(devices):
        for name in ("a", "b")[: 1 + (number == 0)]:
            made = asked.add("buf", shape, device, id=f"{name}{number}", arg=f"{name}{number}")
            asked.open.add(made.id)
    for _ in range(draw(_LENGTH)):
        getattr(asked, draw(_STEPS))()
    made_of = [node for node in reversed(asked.nodes) if node.op not in ("buf", "const")] or asked.nodes
    results = dict.fromkeys(made_of[draw(st.integers(0, len(made_of) - 1))].id for _ in range(draw(_RESULTS)))
    if draw(st.booleans()):
        # On all devices: few engines reduce to some of them alone.
        results |= dict.fromkeys(node.id for node in asked.nodes if node.op == "all_reduce")
    return pruned(Graph(nodes=tuple(asked.nodes), results=tuple(results)))


def _shape(node: Node) -> tuple[int, ...]:
    return tuple(int(extent) for extent in node.shape)
