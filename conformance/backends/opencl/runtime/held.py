"""Graphs of one round whose buffers lie on the devices, to be launched again and again."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np

from conformance.backends.opencl.runtime.engine import Engine
from conformance.backends.opencl.runtime.plan import Launched
from conformance.backends.opencl.runtime.prepared import Input, Prepared, PreparedRound
from conformance.backends.opencl.runtime.worth import worths
from conformance.cases.tensor.dtypes import Array


class Held:
    """A graph of one round whose buffers lie on the devices: launched again and again, on what they hold by then."""

    def __init__(self, prepared: Prepared, content: Mapping[str, Array], engine: Engine) -> None:
        """Upload the content of the buffers; raise ``ValueError`` for a graph of several rounds."""
        if len(prepared.rounds) != 1:
            raise ValueError(f"a graph that is held has one round, and this has {len(prepared.rounds)}")
        (self._round,) = prepared.rounds
        self._engine = engine
        arrays = {name: np.ascontiguousarray(each).reshape(-1).view(np.uint8) for name, each in content.items()}
        self._given = {
            place: engine.upload(each.device, _laid(each, arrays)) for place, each in enumerate(self._round.inputs)
        }

    def launch(self) -> Running:
        """Enqueue every command and return what is under way; nothing blocks."""
        return Running(self._round.plan.launch(self._given), self._round, self._engine)


def _laid(given: Input, arrays: Mapping[str, Array]) -> Array:
    """Return the bytes of a storage, those between its buffers undefined."""
    if len(given.buffers) == 1:
        return arrays[given.buffers[0][0]]
    content = np.empty(given.size, np.uint8)
    for name, start in given.buffers:
        content[start : start + arrays[name].size] = arrays[name]
    return content


class Running(NamedTuple):
    """A graph under way."""

    launched: Launched
    round: PreparedRound
    engine: Engine

    def wait(self) -> None:
        """Block until every command is done."""
        self.launched.wait()

    def read(self, name: str) -> Array:
        """Return what a node that was asked for is worth; block until it is there."""
        return self._worths([self.round.asked[name]])[self.round.asked[name]]

    def results(self) -> dict[str, Array]:
        """Return what each node that was asked for is worth; block once, until all are there."""
        found = self._worths(self.round.asked.values())
        return {name: found[number] for name, number in self.round.asked.items()}

    def _worths(self, numbers: Collection[int]) -> dict[int, Array]:
        return worths(self.round, numbers, self.launched.storages, self.engine)
