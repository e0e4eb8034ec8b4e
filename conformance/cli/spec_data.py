"""What ``conformance spec --json`` prints."""

from __future__ import annotations

from typing import Any, Final

from conformance import SPECIFICATION_VERSION

Data = dict[str, Any]

HELPERS: Final = ("described", "silent", "link")
"""Parts of a clause that are for printing."""


def whole(answers: Data) -> Data:
    """Return the whole specification."""
    return {
        "version": SPECIFICATION_VERSION,
        "operations": [_operation(answers, op) for op in answers["operations"]],
        "shared": [_clause(answers["clauses"][id]) for id in answers["shared"]],
        "further": [_clause(answers["clauses"][id]) for id in answers["further"]],
        "sources": list(answers["sources"].values()),
        "names": answers["names"],
        "index": answers["entries"],
    }


def as_data(answers: Data, kind: str, found: Any) -> Data:
    """Return what a word leads to."""
    if kind == "operation":
        op, entries, _ = found
        return {**_operation(answers, op), "names": _names(answers, op), "index": entries}
    if kind == "clause":
        return _clause(found)
    if kind == "source":
        return {**found, "clauses": [_clause(answers["clauses"][id]) for id in answers["cited_by"][found["name"]]]}
    if kind == "rule":
        return {**found, "clauses": [_clause(answers["clauses"][id]) for id in found["clauses"]]}
    return {"index": [{**each, "clauses": _clauses(answers, each)} for each in found]}


def _operation(answers: Data, op: str) -> Data:
    data = answers["operations"][op]
    clauses = {part: [_clause(answers["clauses"][id]) for id in data[part]] for part in ("clauses", "shared")}
    return {**data, **clauses}


def _clauses(answers: Data, entry: Data) -> list[Data]:
    return [_clause(answers["clauses"][id]) for id in entry["clauses"]]


def _clause(clause: Data) -> Data:
    return {name: value for name, value in clause.items() if name not in HELPERS}


def _names(answers: Data, op: str) -> list[Data]:
    return [name for name in answers["names"] if name["operation"] == op]
