"""What a backend makes of a case, as a digest: all that verdicts depend on, and no words."""

from __future__ import annotations

import hashlib

import msgspec

from conformance.cases.observation import Observation
from conformance.runner.worker.answers import Answer, Broken


def told(answer: Answer) -> bytes:
    """Return 16 bytes that are the same for answers whose values, errors and touched storage are alike.

    In what order an answer names its results says nothing.
    """
    return hashlib.sha256(msgspec.msgpack.encode(_content(answer.result), order="deterministic")).digest()[:16]


def _content(result: Observation | Broken | None) -> object:
    if result is None:
        return None
    if isinstance(result, Broken):
        return result.outcome, result.detail
    errors = [None if error is None else error.category for error in result.errors]
    return msgspec.structs.replace(result, seconds=0.0, errors=(), health=None), errors, _content(result.health)
