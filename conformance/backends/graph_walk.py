"""Running a graph case on a framework, node by node: what all adapters have in common.

A name of storage is no value: it is made again, from what the storage holds, whenever it is used. The nodes of a
round are handed to the framework in list order; what it computes, and when, is its own affair.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from conformance.backends.base import Unsupported
from conformance.cases.graph.case import GraphCase, asked_key, read_key
from conformance.cases.graph.extent import sizes
from conformance.cases.graph.graph import MOVEMENT, Function, Node
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import to_array

BITWISE_FOLDS: Final = frozenset(
    {f"reduce_{fold}_{family}" for fold in ("and", "or", "xor") for family in ("integer", "float", "complex")}
    | {"reduce_xor_bool"}
)
"""Words of folds that frameworks without bitwise reductions lack; bools have ``all`` and ``any``."""

Given = dict[str, Any]
"""What was asked for, by key: arrays, unless ``Walk.arrays`` returns something else."""


class Walk(ABC):
    """A case being run: the framework's value of each computed node, and its storage of each buffer, flat."""

    def __init__(self, case: GraphCase) -> None:
        """Begin with what the buffers hold at first."""
        self.case = case
        self.nodes = {node.id: node for node in case.graph.nodes}
        self.values: dict[str, Any] = {}
        self.more: dict[str, tuple[Any, ...]] = {}
        self.bounds: dict[str, Mapping[str, int]] = {}
        self.storages = {name: self.storage(name, to_array(each).reshape(-1)) for name, each in case.buffers.items()}

    def run(self) -> Given:
        """Return what every round asks for and reads, by key."""
        found: Given = {}
        for number in range(len(self.case.rounds)):
            self.begin(number)
            found |= self.given_by(number)
        return found

    def given_by(self, number: int) -> Given:
        """Return what a round asks for and reads, by key, once its nodes were handed to the framework."""
        each = self.case.rounds[number]
        asked = self.answers(each.asked)
        found = {asked_key(number, name): array for name, array in zip(each.asked, asked, strict=True)}
        return found | {read_key(number, name): self.held(name) for name in each.read}

    def begin(self, number: int) -> None:
        """Write what is written from outside before a round, and hand its nodes to the framework."""
        self.write_from_outside(number)
        self.list_nodes(number)

    def write_from_outside(self, number: int) -> None:
        """Write what is written from outside before a round."""
        for name, tensor in self.case.rounds[number].writes.items():
            self.write(name, to_array(tensor).reshape(-1))

    def list_nodes(self, number: int) -> None:
        """Hand the nodes of a round to the framework, in list order."""
        bound = self.case.bound(number)
        for node in self.case.listed(number):
            self.bounds[node.id] = bound
            self.take(node)

    def answers(self, names: tuple[str, ...]) -> list[Any]:
        """Return what the nodes that a round asks for are worth, all asked for together."""
        return self.arrays([self.value(name) for name in names])

    def held(self, name: str) -> Any:
        """Return what a buffer holds, in its shape."""
        (found,) = self.arrays([self.storages[name]])
        return found.reshape(self.case.buffers[name].shape)

    def take(self, node: Node) -> None:
        """Hand one node to the framework."""
        if node.op == "assign":
            self.assign(node, self.value(node.of[1]), copied=bool(self.home(node.of[1])))
        elif node.op == "item":
            self.values[node.id] = self.more[node.of[0]][int(str(node.arg)) - 1]
        elif node.op == "call":
            self.values[node.id], *others = self.call(node, [self.value(name) for name in node.of])
            self.more[node.id] = tuple(others)
        elif not self.home(node.id):
            self.values[node.id] = self.made(node, [self.value(name) for name in node.of])

    def home(self, name: str) -> str:
        """Return the buffer that a node is a name of; no word for a computed one."""
        node = self.nodes[name]
        while node.op in MOVEMENT or node.op == "assign":
            node = self.nodes[node.of[0]]
        return str(node.arg) if node.op == "buf" else ""

    def value(self, name: str) -> Any:
        """Return the framework's value of a node, as it is worth now."""
        if name in self.values:
            return self.values[name]
        path, node = [], self.nodes[name]
        while node.op != "buf":
            path.append(node)
            node = self.nodes[node.of[0]]
        found = self.shaped(self.storages[str(node.arg)], self.dims(node))
        for each in reversed(path):
            found = found if each.op == "assign" else self.moved(each, found)
        return found

    def dims(self, node: Node) -> tuple[int, ...]:
        """Return the shape of a node as numbers."""
        return sizes(node.shape, self.bounds.get(node.id, {}))

    def pairs(self, node: Node) -> tuple[tuple[int, int], ...]:
        """Return the pairs of a pad or a shrink as numbers."""
        arg = node.arg if isinstance(node.arg, tuple) else ()
        ends = [sizes(pair, self.bounds.get(node.id, {})) for pair in arg if isinstance(pair, tuple)]
        return tuple((first, beyond) for first, beyond in ends)

    def axes(self, node: Node) -> tuple[int, ...]:
        """Return the axes, or the steps, that are the argument of a node."""
        return tuple(each for each in node.arg if isinstance(each, int)) if isinstance(node.arg, tuple) else ()

    def applied(self, function: Function, of: list[Any], bound: Mapping[str, int]) -> list[Any]:
        """Return what a function gives for its arguments, inlined."""
        values: dict[str, Any] = {}
        for node in function.nodes:
            self.bounds[node.id] = bound
            given = [values[name] for name in node.of]
            if node.op == "param":
                values[node.id] = of[int(str(node.arg))]
            else:
                values[node.id] = self.moved(node, given[0]) if node.op in MOVEMENT else self.made(node, given)
        return [values[name] for name in function.results]

    def call(self, node: Node, of: list[Any]) -> list[Any]:
        """Return the results of a call; override it where a framework has calls of its own."""
        return self.applied(self.case.graph.functions[str(node.arg)], of, self.bounds[node.id])

    def arrays(self, values: list[Any]) -> list[Array]:
        """Return values as arrays, all asked for together."""
        return [self.array(value) for value in values]

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return the framework's value of a node that is computed now."""
        if node.op in MOVEMENT:
            return self.moved(node, of[0])
        table = self.table()
        name = str(node.arg) if node.op == "alu" else node.op
        if name not in table:
            raise Unsupported(f"node {node.id!r}: there is no word for {name}")
        return table[name](node, *of)

    @abstractmethod
    def table(self) -> Mapping[str, Callable[..., Any]]:
        """Return for each computed operation, by name, what makes its value of the node and its sources."""

    @abstractmethod
    def storage(self, name: str, array: Array) -> Any:
        """Return new storage that holds a flat array."""

    @abstractmethod
    def write(self, name: str, array: Array) -> None:
        """Write a flat array into a whole buffer."""

    @abstractmethod
    def shaped(self, value: Any, shape: tuple[int, ...]) -> Any:
        """Return the beginning of flat storage in a shape, as a view of it where there are such."""

    @abstractmethod
    def moved(self, node: Node, value: Any) -> Any:
        """Return movement of a value, as a view of it where there are such."""

    @abstractmethod
    def assign(self, node: Node, value: Any, *, copied: bool) -> None:
        """Write a value into the target of an assign; ``copied`` says that the value may share storage with it."""

    @abstractmethod
    def array(self, value: Any) -> Array:
        """Return a value as an array."""


def place_of(walk: Walk, name: str) -> Array:
    """Return for each element that a name of storage shows its position in the flat buffer."""
    path, node = [], walk.nodes[name]
    while node.op != "buf":
        path.append(node)
        node = walk.nodes[node.of[0]]
    found = np.arange(int(np.prod(walk.dims(node), dtype=np.int64))).reshape(walk.dims(node))
    for each in reversed(path):
        found = found if each.op == "assign" else positions(walk, each, found)
    return found


def positions(walk: Walk, node: Node, at: Array) -> Array:
    """Return positions moved as a node moves its source."""
    moves: dict[str, Callable[[], Array]] = {
        "reshape": lambda: at.reshape(walk.dims(node)),
        "permute": lambda: at.transpose(walk.axes(node)),
        "shrink": lambda: at[tuple(slice(*pair) for pair in walk.pairs(node))],
        "stride": lambda: at[tuple(slice(None, None, step) for step in walk.axes(node))],
        "flip": lambda: np.flip(at, walk.axes(node)),
        "detach": lambda: at,
    }
    return moves[node.op]()
