"""What a worker spends its seconds on: compiling, and all it does while it does not wait for a request."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

from conformance.backends import protocol

_HELD: Final = Lock()
"""Held while seconds are counted: kernels are built beside what runs."""

_seconds = {"compile": 0.0, "waiting": 0.0, "told": time.perf_counter()}
_depth = {"compile": 0}


@contextmanager
def compiling() -> Iterator[None]:
    """Count the time within as time of a compiler; of several within each other, or at once, the first one's."""
    with _HELD:
        _depth["compile"] += 1
        outermost = _depth["compile"] == 1
    began = time.perf_counter()
    try:
        yield
    finally:
        with _HELD:
            _depth["compile"] -= 1
            if outermost:
                _seconds["compile"] += time.perf_counter() - began


@contextmanager
def waiting() -> Iterator[None]:
    """Count the time within as time in which there was no request."""
    began = time.perf_counter()
    try:
        yield
    finally:
        _seconds["waiting"] += time.perf_counter() - began


def taken() -> protocol.Spent:
    """Return what was spent since this was asked last."""
    with _HELD:
        now = time.perf_counter()
        spent = protocol.Spent(
            compile=round(_seconds["compile"], 6), busy=round(max(0.0, now - _seconds["told"] - _seconds["waiting"]), 6)
        )
        _seconds.update(compile=0.0, waiting=0.0, told=now)
    return spent
