"""The rules of the five documents that this specification was read off, and which clauses say each.

A document is a file here; its name is the first word of the ids of its rules: ``multi.R3``.
"""

from __future__ import annotations

from typing import Final

from conformance.specification.rules import comm_lowering, lazy, multi, parallel, rangeify
from conformance.specification.rules.judged import NEVER, judged_on
from conformance.specification.rules.rule import Rule, RuleError, read_rows
from conformance.specification.sources import SOURCES, Document

DOCUMENTS: Final[dict[str, Document]] = {
    "multi": SOURCES["tinygrad.multi"].document,
    "parallel": SOURCES["jax.psum"].document,
    "comm_lowering": SOURCES["torch.inductor.comm_lowering"].document,
    "lazy": SOURCES["tinygrad.lazy"].document,
    "rangeify": SOURCES["tinygrad.schedule"].document,
}
"""Each document by the first word of the ids of its rules."""

_ROWS: Final = {
    "multi": multi.ROWS,
    "parallel": parallel.ROWS,
    "comm_lowering": comm_lowering.ROWS,
    "lazy": lazy.ROWS,
    "rangeify": rangeify.ROWS,
}

RULES: Final[dict[str, Rule]] = {rule.id: rule for name, rows in _ROWS.items() for rule in read_rows(name, rows)}
"""Every rule by its id, in the order of the documents."""

__all__ = ["DOCUMENTS", "NEVER", "RULES", "Rule", "RuleError", "judged_on"]
