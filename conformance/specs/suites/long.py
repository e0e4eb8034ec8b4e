"""The suite of long blocks, and of many terms: sizes past which implementations go another way than below."""

from __future__ import annotations

from typing import Final

from conformance.specs.op import BLOCKWISE
from conformance.specs.suite import Suite

SUITE: Final = Suite(
    "long",
    "The same promises, of blocks of 64 KiB to 4 MiB and of thousands of terms.",
    ops=BLOCKWISE,
)
