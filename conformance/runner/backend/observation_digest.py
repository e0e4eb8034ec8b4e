"""The digest of what a backend did with a case: equal digests mean that every clause was asked of the same answers."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from conformance.cases.observation import Observation, RankError
from conformance.runner.worker.answers import Answer

_PASSING: Final = re.compile(r"0x[0-9a-fA-F]+|(?:/[\w.+-]+){2,}|\[[0-9a-f.:]+\]:\d+|\d{4,}")
"""What of a message is of one process alone: addresses, paths of temporary files, ports, numbers of processes."""


def observation_digest(answers: Iterable[Answer]) -> str | None:
    """Return the SHA-256 of all answers in order, in hex; ``None`` where nothing was asked.

    Times are left out, and of the messages of errors what differs from process to process.
    """
    total, asked = hashlib.sha256(), False
    for answer in answers:
        asked, result = True, answer.result
        if isinstance(result, Observation):
            total.update(b"observation\0" + msgspec.json.encode(_lasting(result)) + b"\0")
        else:
            total.update(f"{result.outcome}\0{result.error}\0".encode())
    return total.hexdigest() if asked else None


def _lasting(seen: Observation) -> Observation:
    """Return an observation without what two runs of the same process would not share."""
    errors = tuple(error and _lasting_error(error) for error in seen.errors)
    return replace(seen, seconds=0.0, errors=errors, health=seen.health and _lasting(seen.health))


def _lasting_error(error: RankError) -> RankError:
    return replace(error, message=_PASSING.sub("#", error.message))
