"""The page of the invariants: each with the clauses that say it; ``python -m conformance.specification.invariants``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from conformance.specification.families import document_of
from conformance.specs.schedules import EVERY
from conformance.specs.schedules.invariants import BESIDE, EXCLUDED, GROUPS, INVARIANTS, SILENT

PAGE: Final = Path(__file__).parents[2] / "docs" / "invariants.md"

_HEAD: Final = """# The invariants of lazy schedulers

What a scheduler may do with a graph of tensor operations, as two sources of this suite have it, in 87 sentences, and
the clauses of [schedules](schedules.md) that say each. `python -m conformance.specification.invariants` writes this
page. A test holds it, and for each sentence a schedule that breaks it breaks one of its clauses.
"""


def page() -> str:
    """Return the page as Markdown."""
    lines = [_HEAD]
    for name, (first, last) in GROUPS.items():
        lines += [f"## {name}", "", "| | what must hold | clauses |", "|---|---|---|"]
        for number in range(first, last + 1):
            found = INVARIANTS[number]
            lines.append(f"| {number} | {found.text} | {_listed(found.clauses)} |")
        lines.append("")
    lines += ["## Beside the 87", "", "| what must hold | clauses |", "|---|---|"]
    lines += [f"| {text} | {_listed(clauses)} |" for text, clauses in BESIDE.items()]
    lines += ["", "## Not said by a clause", "", "| what | why, and what it would need |", "|---|---|"]
    lines += [f"| {name} | {why} |" for name, why in EXCLUDED.items()]
    lines += ["", "## Silent in a default run of the native engine", ""]
    lines += [
        "The clauses of all other invariants speak there. These are judged on the schedules of others, and on",
        "violations.",
        "",
    ]
    lines += ["| | what must hold | why, and what it would need |", "|---|---|---|"]
    lines += [f"| {number} | {INVARIANTS[number].text} | {why} |" for number, why in SILENT.items()]
    return "\n".join(lines) + "\n"


def _listed(clauses: Sequence[str]) -> str:
    links = (f"[`{clause}`]({document_of(clause)})" for clause in clauses)
    return ", ".join(f"{link} ({EVERY[clause].requirement})" for link, clause in zip(links, clauses, strict=True))


if __name__ == "__main__":
    PAGE.write_text(page())
