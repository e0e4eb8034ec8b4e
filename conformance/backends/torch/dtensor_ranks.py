"""The rank processes that run programs on distributed tensors, a pool for each number of devices."""

from __future__ import annotations

import selectors
import socket
import time
from functools import partial
from importlib import import_module
from typing import Final

import msgspec

from conformance.backends.torch.dtensor import Part, serve
from conformance.backends.torch.processes import wire
from conformance.backends.torch.processes.child import Child
from conformance.backends.torch.processes.store import Store
from conformance.cases.observation import Observation, RankError
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Layout
from conformance.cases.tensor.tensor import Tensor

PATIENCE: Final = 8.0
"""Seconds that Gloo waits for other ranks; a case has a quarter more."""

START: Final = 60.0
"""Seconds that forked ranks may take to meet."""


class Ranks:
    """The processes of one world, forked again whenever one of them could not go on."""

    def __init__(self, world: int, store: Store) -> None:
        """Start nothing yet."""
        self._world, self._store = world, store
        self._children: list[Child] = []
        self._channels: list[socket.socket] = []
        self._inboxes: list[wire.Inbox] = []

    def run(self, case: ShardedCase) -> Observation:
        """Run a case on all ranks and return what each of them has of its results."""
        began = time.monotonic()
        if not self._children and not self._forked():
            return self._broken("the ranks did not meet")
        payload = msgspec.msgpack.encode(case)
        for channel in self._channels:
            wire.send(channel, payload)
        parts = self._answers(PATIENCE * 1.25)
        if len(parts) < self._world:
            return self._broken(f"ranks {sorted(set(range(self._world)) - set(parts))} gave no answer")
        seen = _merged(case, [parts[device] for device in case.devices])
        if seen.raised:
            # Some may have left the others in the middle of a collective.
            self.close()
        return msgspec.structs.replace(seen, seconds=time.monotonic() - began)

    def close(self) -> None:
        """Kill the ranks."""
        for child, channel in zip(self._children, self._channels, strict=True):
            child.kill()
            channel.close()
            child.end()
        self._children, self._channels, self._inboxes = [], [], []

    def _forked(self) -> bool:
        # What ranks would import with their first operation they inherit.
        import_module("torch._dynamo")
        meeting = self._store.meeting()
        for rank in range(self._world):
            ours, theirs = socket.socketpair()
            with theirs:
                life = partial(serve, theirs, rank, self._world, meeting, PATIENCE)
                self._children.append(Child(life, [theirs.fileno()]))
            self._channels.append(ours)
            self._inboxes.append(wire.Inbox(ours))
        return len(self._answers(START)) == self._world

    def _answers(self, seconds: float) -> dict[int, Part]:
        """Return one answer of each rank that gives one in time."""
        found: dict[int, Part] = {}
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for rank, channel in enumerate(self._channels):
                selector.register(channel, selectors.EVENT_READ, rank)
            while len(found) < self._world and selector.get_map() and (left := end - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    messages = self._inboxes[key.data].read()
                    if messages is None:
                        selector.unregister(key.fileobj)
                    elif messages:
                        found[key.data] = msgspec.msgpack.decode(messages[-1], type=Part)
        return found

    def _broken(self, message: str) -> Observation:
        self.close()
        error = RankError(kind="Crash", message=message, category="no_answer")
        return Observation(errors=(error,) * self._world)


def _merged(case: ShardedCase, parts: list[Part]) -> Observation:
    """Return what the positions of the mesh have, or what they raised."""
    errors = tuple(part.error for part in parts)
    if any(errors):
        return Observation(errors=errors)
    layouts = {
        key: Layout(boxes=tuple(part.boxes[key] for part in parts), partial=parts[0].partial[key])
        for key in case.results
    }
    results: dict[str, tuple[Tensor | None, ...]] = {
        key: tuple((part.results or {})[key] for part in parts) for key in case.results
    }
    return Observation(results=results, layouts=layouts)
