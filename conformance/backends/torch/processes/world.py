"""Rank processes that answer one message each at a time, forked again whenever one of them could not go on."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Final, Generic, TypeVar

import msgspec

from conformance.backends.torch.processes import wire
from conformance.backends.torch.processes.child import Child
from conformance.backends.torch.processes.store import Store

Answer = TypeVar("Answer")

Serve = Callable[..., None]
"""The life of a rank, called with its channel, rank, world, meeting and Gloo's patience in seconds."""

PATIENCE: Final = 8.0
"""Seconds that Gloo waits for other ranks; an answer has a quarter more."""

START: Final = 60.0
"""Seconds that forked ranks may take to meet."""


class World(Generic[Answer]):
    """The processes of one world. Each gives an answer of type ``answer`` when it has met the others."""

    def __init__(self, world: int, store: Store, serve: Serve, answer: type[Answer]) -> None:
        """Start nothing yet."""
        self.world, self._store, self._serve = world, store, serve
        self._decode: Callable[[bytes], Answer] = msgspec.msgpack.Decoder(answer).decode
        self._children: list[Child] = []
        self._channels: list[socket.socket] = []
        self._inboxes: list[wire.Inbox] = []

    def ask(self, message: Any) -> list[Answer] | str:
        """Return what each rank answers to a message, or what kept one from it; then no rank is left."""
        if not self._children and not self._forked():
            self.close()
            return "the ranks did not meet"
        payload = msgspec.msgpack.encode(message)
        for channel in self._channels:
            wire.send(channel, payload)
        found = self._answers(PATIENCE * 1.25)
        if len(found) < self.world:
            self.close()
            return f"ranks {sorted(set(range(self.world)) - set(found))} gave no answer"
        return [found[rank] for rank in range(self.world)]

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
        for rank in range(self.world):
            ours, theirs = socket.socketpair()
            with theirs:
                life = partial(self._serve, theirs, rank, self.world, meeting, PATIENCE)
                self._children.append(Child(life, [theirs.fileno()]))
            self._channels.append(ours)
            self._inboxes.append(wire.Inbox(ours))
        return len(self._answers(START)) == self.world

    def _answers(self, seconds: float) -> dict[int, Answer]:
        """Return one answer of each rank that gives one in time."""
        found: dict[int, Answer] = {}
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            for rank, channel in enumerate(self._channels):
                selector.register(channel, selectors.EVENT_READ, rank)
            while len(found) < self.world and selector.get_map() and (left := end - time.monotonic()) > 0:
                for key, _ in selector.select(left):
                    messages = self._inboxes[key.data].read()
                    if messages is None:
                        selector.unregister(key.fileobj)
                    elif messages:
                        found[key.data] = self._decode(messages[-1])
        return found
