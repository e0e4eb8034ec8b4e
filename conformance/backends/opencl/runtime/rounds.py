"""Graphs on the devices, round by round: buffers stay, and so do values that a later round needs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conformance.backends.opencl.graph.asked import Asking, devices_of, storages_of
from conformance.backends.opencl.graph.index_map import IndexMap, identity
from conformance.backends.opencl.graph.node import Buffer
from conformance.backends.opencl.graph.value import Value
from conformance.backends.opencl.lower.values import Wanted, nodes_of
from conformance.backends.opencl.runtime import memory
from conformance.backends.opencl.runtime.engine import Engine
from conformance.backends.opencl.runtime.plan import Plan
from conformance.backends.opencl.schedule.drafted import scheduled_round
from conformance.cases.graph.case import GraphCase, asked_key, read_key
from conformance.cases.schedule.index_map import Affine, elements
from conformance.cases.tensor.dtypes import NUMPY, Array
from conformance.cases.tensor.tensor import Tensor, from_array, to_array


def run(case: GraphCase, engine: Engine) -> dict[str, Tensor]:
    """Return all results of a graph case by key; raise ``Refused`` for what has no meaning."""
    return _Run(case, engine).results()


class _Run:
    """One case under way."""

    def __init__(self, case: GraphCase, engine: Engine) -> None:
        self._case, self._engine = case, engine
        devices = devices_of(case)
        storages = storages_of(case, devices)
        self._asking = Asking(case.graph, storages, devices)
        self._held: dict[str, memory.Storage] = {}
        self._kept: dict[Value, memory.Storage] = {}
        self._other = {name: to_array(each) for name, each in case.buffers.items() if name not in storages}
        for name in storages:
            self._put(name, case.buffers[name])

    def results(self) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for number in range(len(self._case.rounds)):
            found |= self._round(number)
        return found

    def _put(self, name: str, content: Tensor) -> None:
        storage = self._asking.storages.get(name)
        if storage is None:
            self._other[name] = to_array(content)
        elif storage.size:
            array = np.frombuffer(bytes.fromhex(content.bits), np.uint8)
            self._held[name] = self._engine.upload(storage.device, array)

    def _round(self, number: int) -> dict[str, Tensor]:
        case, asking, each = self._case, self._asking, self._case.rounds[number]
        for name, content in each.writes.items():
            self._put(name, content)
            if name in asking.storages:
                asking.written(name)
        asking.begin()
        bound = case.bound(number)
        for node in case.listed(number):
            asking.take(node, bound)
        asked = {name: asking.worth(name) for name in each.asked}
        later = [
            value for value in self._later(number) if value.size and value.op != "const" and value not in self._kept
        ]
        made = self._computed([*asked.values(), *later], later)
        results = {asked_key(number, name): self._tensor(made[value], value) for name, value in asked.items()}
        for value in later:
            storage = made[value][1]
            assert storage is not None  # it has elements, and is no constant
            self._kept[value] = storage
        for name in each.read:
            results[read_key(number, name)] = self._read(name, case.buffers[name])
        return results

    def _later(self, number: int) -> list[Value]:
        """Return the values, listed up to now, that nodes of later rounds take or that later rounds ask for."""
        rest = self._case.graph.nodes[self._case.rounds[number].until :]
        names = [name for node in rest for name in node.of]
        names += [name for each in self._case.rounds[number + 1 :] for name in each.asked]
        known = self._asking.meanings
        found = (known[name] for name in names if name in known)
        return list(dict.fromkeys(each for each in found if isinstance(each, Value)))

    def _computed(
        self, wanted: Sequence[Value], later: Sequence[Value]
    ) -> dict[Value, tuple[Wanted, memory.Storage | None]]:
        """Run what the round needs, and return where every value lies."""
        asking = self._asking
        given = {
            name: Buffer(storage.device, storage.dtype, storage.size, name) for name, storage in asking.storages.items()
        }
        kept = {value: Buffer(value.device, value.dtype, value.size, f"kept {value.number}") for value in self._kept}
        lowering = nodes_of(asking, wanted, later, given, kept, self._engine.settings)
        made, lowered = scheduled_round(lowering, self._engine.settings, self._engine.session.platform.alignment)
        storages: dict[Buffer, memory.Storage] = {given[name]: held for name, held in self._held.items()}
        storages |= {kept[value]: held for value, held in self._kept.items()}
        numbers = {node: place for place, node in enumerate(storages)}
        plan = Plan(made, lowered, tuple(numbers[node] for node in made.inputs), self._engine.session)
        launched = plan.launch({numbers[node]: storage for node, storage in storages.items()})
        found: dict[Value, tuple[Wanted, memory.Storage | None]] = {}
        for number, each in enumerate(lowering.wanted):
            if each.node is None:
                found[each.value] = each, None
            elif each.node in storages:
                found[each.value] = each, storages[each.node]
            else:
                block = launched.results[f"{number}"]
                found[each.value] = each, block.storages[0]
        return found

    def _tensor(self, made: tuple[Wanted, memory.Storage | None], value: Value) -> Tensor:
        wanted, storage = made
        if storage is None:
            bits = value.arg if value.op == "const" else b""
            array = np.frombuffer(bits, NUMPY[value.dtype]) if bits else np.zeros(1, NUMPY[value.dtype])
            return from_array(np.broadcast_to(array[:1].reshape(()), value.shape))
        content = self._engine.fetched(value.device, storage).view(NUMPY[value.dtype])
        return from_array(gathered(content, wanted.map, value.shape))

    def _read(self, name: str, like: Tensor) -> Tensor:
        if name not in self._held:
            return from_array(self._other[name]) if name in self._other else like
        storage = self._asking.storages[name]
        content = self._engine.fetched(storage.device, self._held[name]).view(NUMPY[storage.dtype])
        return from_array(content.reshape(like.shape))


def gathered(content: Array, index_map: IndexMap, shape: tuple[int, ...]) -> Array:
    """Return the elements that a map names."""
    if index_map == identity(shape) and content.size == int(np.prod(shape, dtype=np.int64)):
        return content.reshape(shape)
    neutral = tuple(
        Affine(extents=each.extents, strides=each.strides, offset=each.offset, mask=each.mask) for each in index_map
    )
    at, _ = elements(neutral, {})
    return np.asarray(content[at])
