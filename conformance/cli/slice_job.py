"""What a process that judges slices is told, and what it says: lines on its standard input, frames on a pipe.

The first line is the ``Job``, each further one a ``SliceRequest``. A frame is a line with a ``SliceEnd``, and so many
bytes.
"""

from __future__ import annotations

from typing import Final

import msgspec

from conformance.runner.plan import Plan

FORK: Final = b"f"
"""What a template is told to fork a process, with its descriptors."""

TERMINATE: Final = b"t"
"""What it is told, on the socket of a process that it forked, to send that SIGTERM."""


class Job(msgspec.Struct, frozen=True):
    """A run whose slices are judged: its backends, its plan, and the digests of the sources of who asks.

    The digests are those of ``runner.log.environment``.
    """

    names: tuple[str, ...]
    plan: Plan
    specification: str
    reference: str

    def key(self) -> bytes:
        """Return what tells this job from others."""
        return msgspec.json.encode(self)


class SliceRequest(msgspec.Struct, frozen=True):
    """Slice ``at`` of ``of``, whose log is to lie in ``folder``."""

    at: int
    of: int
    folder: str


class SliceEnd(msgspec.Struct, frozen=True):
    """How a slice ended: the exit status that ``conformance run --slice`` has, why, and the bytes that follow.

    Status 1 says that somebody changed the log before its end; it was written again.
    """

    status: int
    why: str = ""
    length: int = 0
