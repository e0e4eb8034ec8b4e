"""What one step on sharded operands came to."""

from __future__ import annotations

from typing import Literal

import msgspec

StepOutcome = Literal["right", "wrong", "refused"]
"""What was seen of a step."""


class StepSeen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An operation, where its operands were and where its result is, in words, and what was seen of it.

    ``moved`` are the bytes that went from device to device where that
    was counted, and ``size`` those of its operands.
    """

    op: str
    given: str
    made: str
    found: StepOutcome
    moved: int | None = None
    size: int = 0
