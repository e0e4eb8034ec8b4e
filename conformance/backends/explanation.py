"""What a backend says of how it runs a case: values, kernels, buffers and order, in words."""

from __future__ import annotations

import msgspec


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that a device does: ``reason`` says why it is one of its own, ``after`` what it waits for."""

    name: str
    kind: str
    device: str
    reason: str = ""
    computes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    source: str = ""


class Stored(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One buffer: its bytes, and the storage that it shares with others, where it does, from which byte of it on."""

    name: str
    size: int
    dtype: str
    device: str
    shares: str = ""
    offset: int = 0


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """One round of a case, or a whole program: the graph as it was taken, and the steps in order."""

    title: str
    graph: tuple[str, ...]
    steps: tuple[Step, ...]
    buffers: tuple[Stored, ...]
