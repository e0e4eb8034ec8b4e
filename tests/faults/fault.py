"""A fault: what somebody does, and what must be seen. The tables beside this file list all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Fault:
    """``done`` is what is done, ``seen`` what must be seen, in words; ``data`` is what the test of its table needs."""

    done: str
    seen: str
    data: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Table:
    """Faults of one kind, under a heading, with a sentence on what holds for all of them.

    Where there are more than two ``columns`` what is ``seen`` has the others, with a bar between them.
    """

    heading: str
    says: str
    faults: tuple[Fault, ...]
    columns: tuple[str, ...] = ("what is done", "what is seen")
