"""What an operation is: one row of the table."""

from __future__ import annotations

from typing import Literal

import msgspec

Does = Literal["reduce", "gather", "exchange", "spread", "query"]
"""What an operation does: it folds blocks, joins them, exchanges them, hands one out, or asks and takes none."""

Who = Literal["all", "root", "sources", "nobody"]
"""Members by what the attributes call them; ``sources`` are the first of each of ``pairs``."""

Result = Literal["block", "number", "token", "nothing"]


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What an operation is.

    It takes ``operands`` values, mapped over as many as a step names where that is one; with ``takes_token`` that one
    is a token. ``readers`` of its blocks, and ``writers`` of its result, are the members that do. ``groups`` may be
    ``any`` or have to be ``equal`` in size; where the result is ``sized``, one of its extents comes with that size.
    Blocks ``differ`` from rank to rank in nothing, in their ``rows`` or in ``all``. It writes ``over`` the operand of
    that number where it is done in place.
    """

    name: str
    does: Does
    attributes: tuple[str, ...] = ()
    operands: int = 1
    takes_token: bool = False
    result: Result = "block"
    readers: Who = "all"
    writers: Who = "all"
    groups: Literal["equal", "any"] = "equal"
    sized: bool = False
    differ: Literal["nothing", "rows", "all"] = "nothing"
    over: int | None = None

    @property
    def written(self) -> bool:
        """Return whether it has a block that may be written into storage."""
        return self.result in ("block", "number")

    @property
    def started(self) -> bool:
        """Return whether it can be started: it gives something to wait for, and is no half of a move already."""
        return self.written and not self.takes_token
