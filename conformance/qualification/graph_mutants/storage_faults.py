"""Faults of assigns, hazards, caches and rounds, each in an implementation that is otherwise right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from conformance.backends.graph_walk import place_of
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Node
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.graph_mutants.eager import Eager


class ComputesWhenAsked(Eager):
    """Computes nodes when a round asks for them, of what buffers hold by then: writes between are seen too early."""

    def take(self, node: Node) -> None:
        """Only note the node; assigns are done at once."""
        if node.op in ("assign", "call", "item"):
            super().take(node)

    def value(self, name: str) -> Any:
        """Compute what is not computed yet, and remember it."""
        node = self.nodes[name]
        if name not in self.values and not self.home(name):
            self.bounds.setdefault(name, self.case.bound(0))
            self.values[name] = self.made(node, [self.value(source) for source in node.of])
        return super().value(name)


class ComputesAtTheEndOfRounds(ComputesWhenAsked):
    """Computes the nodes of a round after all of its assigns."""

    def list_nodes(self, number: int) -> None:
        """Compute, once all is listed, what is not computed yet."""
        super().list_nodes(number)
        for node in self.case.listed(number):
            self.value(node.id)


class NamedStorageAlone(Eager):
    """Writes nothing from outside into buffers that no node names."""

    def write(self, name: str, array: Array) -> None:
        if any(node.op == "buf" and node.arg == name for node in self.case.graph.nodes):
            super().write(name, array)


class AssignsReadThroughCopies(Eager):
    """Assigns, instead of a contiguous copy, what the source of the copy is worth by then."""

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        source = self.nodes[node.of[1]]
        super().assign(node, self.value(source.of[0]) if source.op == "contig" else value, copied=copied)


class ComputesAgain(Eager):
    """Computes what is asked for again anew, of what buffers hold by then."""

    def __init__(self, case: GraphCase) -> None:
        super().__init__(case)
        self.asked: set[str] = set()

    def arrays(self, values: list[Any]) -> list[Array]:
        """Forget, once a round is over, what was computed."""
        found = super().arrays(values)
        for name in [name for name in self.values if self.nodes[name].op == "alu"]:
            self.asked.add(name)
        return found

    def value(self, name: str) -> Any:
        """Compute again."""
        if name in self.asked and name in self.values:
            return self.made(self.nodes[name], [self.value(source) for source in self.nodes[name].of])
        return super().value(name)


class AssignsElementByElement(Eager):
    """Assigns in place while it reads: a value that reads its own target reads what was just written."""

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        """Follow a name of the same storage element by element."""
        source = node.of[1]
        if not copied or self.home(source) != self.home(node.of[0]):
            super().assign(node, value, copied=copied)
            return
        held = self.storages[self.home(node.of[0])]
        try:
            reads = place_of(self, source)
        except KeyError:
            super().assign(node, value, copied=copied)
            return
        for to, at in zip(place_of(self, node.of[0]).reshape(-1), reads.reshape(-1), strict=True):
            held[to] = held[at]


class FusesInPlace(Eager):
    """Computes the operation that is assigned in place: what it reads of its target in another order is new."""

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        """Compute the value element by element, each of what is there by then."""
        made = self.nodes[node.of[1]]
        home = self.home(node.of[0])
        names = [source for source in made.of if self.home(source) == home]
        if made.op != "alu" or not names or any(self.nodes[name].op in ("pad", "expand") for name in names):
            super().assign(node, value, copied=copied)
            return
        held, to = self.storages[home], place_of(self, node.of[0]).reshape(-1)
        for number, place in enumerate(to):
            held[place] = np.asarray(self.made(made, [self.value(source) for source in made.of])).reshape(-1)[number]


class AssignsWhole(Eager):
    """Assigns to the storage of a view from its beginning, wherever the view lies."""

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        """Write at the beginning."""
        del copied
        held = self.storages[self.home(node.of[0])]
        held[: value.size] = value.reshape(-1)


class AssignsUnturned(Eager):
    """Assigns through a flipped view as through one that is not."""

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        """Turn the value round, so that it lands unturned."""
        target = self.nodes[node.of[0]]
        turned = np.flip(value, self.axes(target)) if target.op == "flip" else value
        super().assign(node, turned, copied=copied)


class TheFirstAssignLasts(Eager):
    """Drops the second of two assigns to one buffer in a round."""

    def __init__(self, case: GraphCase) -> None:
        super().__init__(case)
        self.done: set[tuple[str, int]] = set()

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        """Assign the first time."""
        number = next(at for at, each in enumerate(self.case.rounds) if self._place(node) < each.until)
        key = (self.home(node.of[0]), number)
        if key not in self.done:
            self.done.add(key)
            super().assign(node, value, copied=copied)

    def _place(self, node: Node) -> int:
        return next(at for at, each in enumerate(self.case.graph.nodes) if each.id == node.id)


class AliasesAreCopies(Eager):
    """Makes views of storage when they are listed: what is written later does not show in them."""

    def take(self, node: Node) -> None:
        """Keep what a view shows now."""
        super().take(node)
        if node.op not in ("buf", "assign") and self.home(node.id):
            self.values[node.id] = np.array(Eager.value(self, node.id))


class ContiguousIsAView(Eager):
    """Gives the storage itself for what is made contiguous of it: a later write shows."""

    def take(self, node: Node) -> None:
        """Take no copy of what is contiguous already."""
        super().take(node)
        if node.op in ("contig", "copy") and self.nodes[node.of[0]].op == "buf":
            self.values.pop(node.id, None)

    def home(self, name: str) -> str:
        """Follow what is contiguous to its buffer."""
        node = self.nodes[name]
        if node.op in ("contig", "copy") and self.nodes[node.of[0]].op == "buf":
            return super().home(node.of[0])
        return super().home(name)

    def value(self, name: str) -> Any:
        """Return what the buffer holds."""
        node = self.nodes[name]
        through = node.op in ("contig", "copy") and self.nodes[node.of[0]].op == "buf"
        return super().value(node.of[0]) if through and name not in self.values else super().value(name)


class Cached(Eager):
    """Keeps what it computed by the operation and its sources: what differs in nothing else is the same."""

    def __init__(self, case: GraphCase) -> None:
        super().__init__(case)
        self.cache: dict[Any, Any] = {}

    def made(self, node: Node, of: list[Any]) -> Any:
        """Return what the cache has."""
        found = self.cache.get(self.key(node))
        right = super().made(node, of)
        if found is not None and node.of and (found.shape, found.dtype) == (right.shape, right.dtype):
            return found
        self.cache[self.key(node)] = right
        return right

    def key(self, node: Node) -> Any:
        """Return what the cache tells nodes apart by."""
        return node.op, node.of, str(node.arg), node.fold, node.dtype


class CacheWithoutVersions(Cached):
    """Finds in its cache what was computed before its storage was written."""


class CacheWithoutFolds(Cached):
    """Finds a sum in its cache where a maximum of the same was asked for."""

    def key(self, node: Node) -> Any:
        """Leave out the fold."""
        return (id(node),) if node.op != "reduce" else (node.op, node.of, node.arg)


class CacheWithoutArguments(Cached):
    """Finds in its cache the other results of movement of the same source."""

    def key(self, node: Node) -> Any:
        """Leave out the argument of what is no operation."""
        return (id(node),) if node.op in ("alu", "reduce", "const") else (node.op, node.of)


class KeepsTheFirstBinding(Eager):
    """Takes the values of variables of the first round for all."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Bind as in the first round."""
        if node.op == "var":
            self.bounds[node.id] = self.case.bound(0)
        return super().made(node, of)


class SymbolicSumsAreWhole(Eager):
    """Reduces all of an axis whose extent is a variable, not what the variable leaves of it."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Reduce what a narrowed view is of."""
        source = self.nodes.get(node.of[0]) if node.of else None
        if node.op == "reduce" and source is not None and source.op == "shrink" and "n" in source.shape:
            whole = self.value(source.of[0])
            made = super().made(node, [whole])
            return made if made.shape == super().made(node, of).shape else super().made(node, of)
        return super().made(node, of)


class WritesFromOutsideAreLate(Eager):
    """Writes from outside after the nodes of the round are listed."""

    def begin(self, number: int) -> None:
        """List first."""
        self.list_nodes(number)
        self.write_from_outside(number)


class SwapsResults(Eager):
    """Gives the other result of a call."""

    def call(self, node: Node, of: list[Any]) -> list[Any]:
        """Turn the results round."""
        return super().call(node, of)[::-1]


class CallsKeepTheirArguments(Eager):
    """Calls a function with what it was first called with."""

    def __init__(self, case: GraphCase) -> None:
        super().__init__(case)
        self.first: dict[str, list[Any]] = {}

    def call(self, node: Node, of: list[Any]) -> list[Any]:
        """Call with the first arguments."""
        return super().call(node, self.first.setdefault(str(node.arg), of))


class BitsInStoredOrder(Eager):
    """Takes the bits of a permuted value in the order in which it was stored."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Turn the axes back."""
        source = self.nodes.get(node.of[0]) if node.op == "bitcast" else None
        if source is None or source.op != "permute":
            return super().made(node, of)
        stored = of[0].transpose(np.argsort(self.axes(source)))
        return super().made(node, [np.ascontiguousarray(stored).reshape(of[0].shape)])


class WritesNextDoor(Eager):
    """Writes the element behind the target of an assign too, as whole vectors do."""

    def assign(self, node: Node, value: Array, *, copied: bool) -> None:
        """Write one more."""
        super().assign(node, value, copied=copied)
        at, held = place_of(self, node.of[0]), self.storages[self.home(node.of[0])]
        if at.size and int(at.max()) + 1 < held.size and value.size:
            held[int(at.max()) + 1] = value.reshape(-1)[-1]


class LongChainsAreCut(Eager):
    """Forgets the first of more than a thousand nodes that it fused."""

    def made(self, node: Node, of: list[Any]) -> Any:
        """Take the sources of node 1,024 as they were at the beginning."""
        if len(self.values) == 1024 and of and of[0].shape == of[-1].shape:
            return of[-1]
        return super().made(node, of)


class ManyBuffersAreDropped(Eager):
    """Passes a kernel no more than 31 buffers: those beyond read as zeros."""

    def value(self, name: str) -> Any:
        """Read zeros of the later buffers."""
        found = super().value(name)
        late = self.nodes[name].op == "buf" and list(self.case.buffers).index(self.home(name)) >= 31
        return np.zeros_like(found) if late else found


Names = Mapping[str, type[Eager]]
