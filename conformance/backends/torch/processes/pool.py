"""The rank processes of one world."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from functools import partial

from conformance.backends.torch.operation import Operation
from conformance.backends.torch.processes import wire
from conformance.backends.torch.processes.child import Child
from conformance.backends.torch.processes.rank import serve
from conformance.backends.torch.processes.store import Meeting


class Rank:
    """One rank process and the parent's end of its channel."""

    def __init__(self, child: Child, channel: socket.socket) -> None:
        """Own ``child`` and ``channel``."""
        self.child = child
        self.channel = channel
        self.inbox = wire.Inbox(channel)

    def end(self) -> str:
        """Close the channel, wait for the end of the process and return how it ended."""
        self.channel.close()
        return self.child.end()


class Pool:
    """The ranks of one world. ``groups`` are the groups of ranks they have made process groups for."""

    def __init__(
        self,
        world: int,
        timeout: float,
        operations: Mapping[str, Operation],
        meeting: Meeting,
        *,
        checked: bool = False,
    ) -> None:
        """Fork ``world`` ranks; each answers once when it has met the others. ``timeout`` in seconds is Gloo's."""
        self.groups: set[tuple[int, ...]] = set()
        self.ranks: list[Rank] = []
        self._paused = False
        for rank in range(world):
            ours, theirs = socket.socketpair()
            life = partial(serve, theirs, rank, world, meeting, timeout, operations, checked=checked)
            with theirs:
                self.ranks.append(Rank(Child(life, [theirs.fileno()]), ours))

    def pause(self) -> None:
        """Stop every rank: one that waits for cases looks a hundred times a second at each process group it has."""
        if not self._paused:
            self._paused = True
            for rank in self.ranks:
                rank.child.pause()

    def resume(self) -> None:
        """Let every rank go on."""
        if self._paused:
            self._paused = False
            for rank in self.ranks:
                rank.child.resume()

    def kill(self) -> list[Child]:
        """Kill every rank and return the processes, which take a while to end."""
        for rank in self.ranks:
            rank.child.kill()
            rank.channel.close()
        return [rank.child for rank in self.ranks]
