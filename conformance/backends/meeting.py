"""How a rank that a launcher started, here or on another host, comes to the worker that asks it."""

from __future__ import annotations

import os
import select
import socket


def met(where: str) -> socket.socket:
    """Return the connection to who asks, by a file or by ``HOST:PORT``."""
    if where.startswith("/"):
        end = socket.socket(socket.AF_UNIX)
        end.connect(where)
        return end
    host, _, port = where.rpartition(":")
    end = socket.create_connection((host, int(port)), timeout=30)
    end.settimeout(None)
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return end


def leave_with(descriptor: int) -> None:
    """End this process when nobody holds the other end any more, wherever its main thread waits."""
    ended = select.poll()
    # What a file's socket says by POLLHUP alone, a connection to another host says by POLLRDHUP.
    ended.register(descriptor, select.POLLHUP | getattr(select, "POLLRDHUP", 0))
    ended.poll()
    os._exit(1)
