"""What one step on sharded operands came to."""

from __future__ import annotations

import msgspec


class StepSeen(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An operation, where its operands were and where its result is, in words, and what was seen of it.

    ``found`` is ``right``, ``wrong`` or ``refused``. ``moved`` are the bytes that went from device to device where that
    was counted, and ``size`` those of its operands.
    """

    op: str
    given: str
    made: str
    found: str
    moved: int | None = None
    size: int = 0
