"""The page that is the index: topics with their answers, what is outside, names of frameworks, and all words."""

from __future__ import annotations

from collections.abc import Iterable

from conformance.specification.index import Entry, entries, normal, topic_anchor
from conformance.specification.name_table import name_lines
from conformance.specification.topics import TOPICS, Topic


def index_lines() -> list[str]:
    """Return the lines of the page, below its title."""
    return [
        "`conformance spec WORD` prints what a word leads to, and `conformance spec --search WORDS` all that has some",
        "words. [Topics](#topics) answer what people ask, [Outside](#outside-and-why) says what is not "
        "answered and why,",
        "[Names of frameworks](#names-of-frameworks) what is called what, and [Words](#words) lists every "
        "word of all of",
        "these.",
        "",
        "## Topics",
        "",
        *_topic_table(each for each in TOPICS if not each.outside),
        "## Outside, and why",
        "",
        "Of these this specification says nothing.",
        "",
        *_topic_table(each for each in TOPICS if each.outside),
        *name_lines(),
        "## Words",
        "",
        "| word | leads to |",
        "| --- | --- |",
        *_words(entries()),
        "",
    ]


def _topic_table(topics: Iterable[Topic]) -> list[str]:
    lines = ["| topic | answer | clauses | also found by |", "| --- | --- | --- | --- |"]
    for each in topics:
        more = f" See [{each.page}]({each.page})." if each.page else ""
        clauses = ", ".join(f"`{clause}`" for clause in each.clauses)
        name = f'<a id="{topic_anchor(each)}"></a>{each.name}'
        words = ", ".join(each.words).replace("|", "\\|")
        lines.append(f"| {name} | {each.answer}{more} | {clauses} | <sub>{words}</sub> |")
    return [*lines, ""]


def _words(found: Iterable[Entry]) -> list[str]:
    leads: dict[str, tuple[str, list[str]]] = {}
    for entry in found:
        for word in entry.words:
            _, links = leads.setdefault(normal(word), (word, []))
            links.append(f"[{entry.title}]({entry.link}) ({entry.kind})")
    rows = sorted(leads.values(), key=lambda each: each[0].casefold())
    return [f"| {word.replace('|', chr(92) + '|')} | {', '.join(dict.fromkeys(links))} |" for word, links in rows]
