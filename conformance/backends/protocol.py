"""The worker protocol: JSON lines on a private pair of file descriptors, requests in order, replies in order.

Requests may be pipelined: the runner sends several ``Run`` lines before it reads replies. Expected values
are never sent. The file descriptors are named by the environment variables ``CONFORMANCE_READ`` and
``CONFORMANCE_WRITE``; standard output is left to the implementation and never parsed.
"""

from __future__ import annotations

from typing import Final

import msgspec

from conformance.cases.case import Case
from conformance.cases.observation import Observation

VERSION: Final = 1
READ: Final = "CONFORMANCE_READ"
WRITE: Final = "CONFORMANCE_WRITE"


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag="hello"):
    """First request."""

    protocol: int = VERSION


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """Execute one case; answered by ``Done`` with the same ``seq``.

    ``case`` is inline, or ``file`` names a case file (with its tensors) when the case is large.
    """

    seq: int
    case: Case | None = None
    file: str | None = None


class Stop(msgspec.Struct, frozen=True, kw_only=True, tag="stop"):
    """Last request; the worker exits with status 0."""


class Ready(msgspec.Struct, frozen=True, kw_only=True, tag="ready"):
    """Answer to ``Hello``."""

    protocol: int
    name: str
    description: dict[str, str]
    claims: dict[str, dict[str, list[str]]]


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """Answer to ``Run``; ``file`` names a safetensors file that holds a large observation's tensors."""

    seq: int
    observation: Observation


Request = Hello | Run | Stop
Reply = Ready | Done
