"""Clauses as a numbered list that can be linked to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from conformance.judging.clause import AnyClause, Clause


def clause_lines(clauses: Iterable[Clause | AnyClause]) -> list[str]:
    """Return the lines of a Markdown table: id, requirement, sentence and source; what sources say otherwise below."""
    known = tuple(clauses)
    rows = (f"| {anchor(c.id)} | {c.requirement} | {_cell(c.text)} | {_sources(c)} |" for c in known)
    head = ("| clause | requirement | sentence | source |", "| --- | --- | --- | --- |")
    return [*head, *rows, "", *_divergences(known)]


def anchor(id: str) -> str:
    """Return an id that can be linked to."""
    return f'<a id="{id.lower()}"></a>`{id}`'


def _sources(clause: Clause | AnyClause) -> str:
    return ", ".join(f"`{part}`" for part in clause.source.split("; "))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _divergences(clauses: Sequence[Clause | AnyClause]) -> list[str]:
    said = [(clause.id, each.source, each.text) for clause in clauses for each in getattr(clause, "diverges", ())]
    return [*_told("otherwise", said), *_told("nothing", said)]


def _told(what: str, said: Sequence[tuple[str, str, str]]) -> list[str]:
    """Return the lines on sources that say something otherwise, or nothing of it."""
    lines = [f"- `{id}`, {source}: {text}" for id, source, text in said if (what == "nothing") == is_silent(text)]
    return (
        [f"Systems that say {'something else' if what == 'otherwise' else 'nothing'}:", "", *lines, ""] if lines else []
    )


def is_silent(text: str) -> bool:
    """Return whether what a source says of a clause is that it says nothing of it."""
    return any(words in text for words in ("says nothing", "say nothing", "nothing is said", "both zeros are equal"))
