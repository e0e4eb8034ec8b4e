"""A suite: one side of what operations promise."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.judging.clause import Clause


@dataclass(frozen=True)
class Suite:
    """The operations of which something is promised, and the clauses that only cases of the suite trigger.

    What its cases are drawn from stands in ``generate.suites``.
    """

    name: str
    summary: str
    ops: tuple[str, ...]
    clauses: tuple[Clause, ...] = ()
