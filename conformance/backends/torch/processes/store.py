"""The store at which ranks find each other: a ``TCPStore`` in a process of its own.

Ranks ask it for the addresses of the others whenever they make a process group. A ``FileStore`` needs no process,
but who waits there looks every 10 ms: a new group of 4 ranks took 12 ms with one and takes 3 with this.
"""

from __future__ import annotations

import itertools
import socket
from functools import partial
from typing import Final, NamedTuple

from torch.distributed import PrefixStore, TCPStore  # type: ignore[attr-defined]  # exported, but not in its stubs

from conformance.backends.torch.processes.child import Child

HOST: Final = "127.0.0.1"


class Meeting(NamedTuple):
    """Where the ranks of one pool meet: the port of the store, and a prefix for their keys."""

    port: int
    prefix: str

    def join(self, rank: int, world: int) -> PrefixStore:
        """Connect to the store, and wait until all of ``world`` have: Gloo has no patience for ranks not forked yet."""
        # Its default timeout concerns this alone: process groups wait as long as they are told.
        store = PrefixStore(self.prefix, TCPStore(HOST, self.port, is_master=False, wait_for_workers=False))
        store.set(f"rank {rank}", "here")
        store.wait([f"rank {number}" for number in range(world)])
        return store


class Store:
    """The process of the store, started when the first meeting is called and again should it have ended."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._child: Child | None = None
        self._lifeline: socket.socket | None = None
        self._port = 0
        self._prefixes = itertools.count()

    def meeting(self) -> Meeting:
        """Return a place where nobody has met before."""
        if self._child is None or self._child.ended():
            self._start()
        return Meeting(self._port, str(next(self._prefixes)))

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.kill()
            self._child.end()
        if self._lifeline is not None:
            self._lifeline.close()
        self._child = None

    def _start(self) -> None:
        if self._lifeline is not None:
            self._lifeline.close()
        self._lifeline, theirs = socket.socketpair()
        # Bound here, its port is known at once, connections wait until the process listens, and none come from outside.
        with theirs, socket.create_server((HOST, 0), backlog=64) as listener:
            self._port = listener.getsockname()[1]
            life = partial(_serve, listener, theirs)
            self._child = Child(life, [listener.fileno(), theirs.fileno()])


def _serve(listener: socket.socket, lifeline: socket.socket) -> None:
    """Let the threads of the store serve until the parent has ended."""
    port = listener.getsockname()[1]
    store = TCPStore(HOST, port, is_master=True, wait_for_workers=False, master_listen_fd=listener.detach())
    lifeline.recv(1)
    del store
