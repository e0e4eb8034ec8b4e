"""The page of the sources, each rule with its answer: ``python -m conformance.specification.sources_page``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from conformance.runner.dialects import further_clauses
from conformance.specification.families import document_of
from conformance.specification.invariants import GROUPS, INVARIANTS, SILENT
from conformance.specification.rules import DOCUMENTS, RULES, Rule, judged_on
from conformance.specs import every_clause

PAGE: Final = Path(__file__).parents[2] / "docs" / "sources.md"

_HEAD: Final = """# The sources, rule by rule

The specification was read off five documents. Every rule, edge, refusal and promise of theirs is a row here: what it
says, in our words, where it stands, the clauses that say it or the reason why none does, and the systems that are
judged on it, each within its claims. The reference is judged on all but schedules, which it makes none of.
`conformance spec multi.R3` prints one row.

`python -m conformance.specification.sources_page` writes this page from `conformance/specification/rules/`. A test
fails on a rule without an answer, on a clause that does not exist, and on one that speaks in no run of any backend.
"""

_WORDS: Final = {
    "clauses": "said by clauses",
    "excluded": "excluded, with a reason",
    "open": "open",
}


def page() -> str:
    """Return the page as Markdown."""
    return "\n".join((_HEAD, *_counts(), *_documents(), *_invariants(), "")) + "\n"


def _counts() -> Iterator[str]:
    counted = Counter[tuple[str, str]]((rule.id.partition(".")[0], rule.answer) for rule in RULES.values())
    yield f"| document | rules | {' | '.join(_WORDS.values())} |"
    yield "|---|---|" + "---|" * len(_WORDS)
    for name, document in DOCUMENTS.items():
        row = [counted[name, word] for word in _WORDS]
        yield f"| [`{name}`](#{name}) {document.title} | {sum(row)} | {' | '.join(map(str, row))} |"
    total = Counter[str](rule.answer for rule in RULES.values())
    yield f"| all | {len(RULES)} | {' | '.join(str(total[word]) for word in _WORDS)} |"


def _documents() -> Iterator[str]:
    for name, document in DOCUMENTS.items():
        yield from ("", f"## {name}", "")
        yield f"{document.title}: `{document.file}`, {document.version}, {document.licence}."
        yield from ("", "| rule | what it says | where | answer | judged |", "|---|---|---|---|---|")
        for rule in RULES.values():
            if rule.id.partition(".")[0] == name:
                yield _row(rule)


def _row(rule: Rule) -> str:
    number = rule.id.partition(".")[2]
    judged = ", ".join(judged_on(rule.clauses)) or "-"
    places = ", ".join(f"`{place}`" for place in rule.place.split(", "))
    return f"| {number} | {rule.text} | {places} | {_answer(rule)} | {judged} |"


def _answer(rule: Rule) -> str:
    if rule.answer != "clauses":
        return f"*{rule.answer}*: {rule.note}"
    return _listed(rule.clauses) + (f"; {rule.note}" if rule.note else "")


def _invariants() -> Iterator[str]:
    yield from ("", "## The invariants of lazy schedulers", "")
    yield "What `lazy` and `rangeify` do with a graph, as 87 sentences about schedules, and the clauses of"
    yield "[schedules](schedules.md) that say each. For each there is a schedule that breaks it and one of its clauses."
    for name, (first, last) in GROUPS.items():
        yield from ("", f"### {name}", "", "| | what must hold | clauses |", "|---|---|---|")
        for number in range(first, last + 1):
            found = INVARIANTS[number]
            yield f"| {number} | {found.text} | {_listed(found.clauses)} |"
    yield from ("", "### Silent in a default run of the native engine", "")
    yield "The clauses of all other invariants speak there. These are judged on the schedules of others, and on"
    yield "violations."
    yield from ("", "| | what must hold | why, and what it would need |", "|---|---|---|")
    yield from (f"| {number} | {INVARIANTS[number].text} | {why} |" for number, why in SILENT.items())


def _listed(clauses: Sequence[str]) -> str:
    every = {**every_clause(), **further_clauses()}
    return ", ".join(f"[`{each}`]({document_of(each)}) ({every[each].requirement})" for each in clauses)


if __name__ == "__main__":
    PAGE.write_text(page())
