"""The words for memory that collectives of one group use, and for what decides how an all_reduce is done."""

from __future__ import annotations

from typing import Final

import msgspec

SYMMETRIC: Final = "symmetric"
"""The kind that members address by offset: where a buffer lies in its allocation is equal on all of them."""

KINDS: Final = ("", SYMMETRIC, "registered")
"""Every word that ``Buffer.communication_kind`` may be.

A ``registered`` buffer is known to the library that moves its bytes, which asks for the same sequence of allocations on
all members and nothing of the offsets. Of the empty word nothing is known.
"""


class Choice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What decides whether an all_reduce is done by ``one_shot``.

    It may be where that is ``on``, the reduction is one of ``reductions``, and one member's operand has at most
    ``threshold`` bytes. Where a choice is told and no algorithm, it is another one.
    """

    on: bool
    threshold: int
    reductions: tuple[str, ...] = ("sum",)
