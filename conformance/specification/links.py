"""Links in finished pages: ids of clauses, and the first place in a chapter where a word of the glossary stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from conformance.specification.words import WORDS

MAIN: Final = "specification.md"
"""The page that has the glossary."""

_CLAUSE: Final = re.compile(r"`([a-z_]+\.C\d+)`")
_ANCHOR: Final = re.compile(r'<a id="([^"]+)"></a>')

_KEPT: Final = re.compile(r'`[^`]*`|\[[^\]]*\]\([^)]*\)|<a id="[^"]*"></a>|<sub>.*?</sub>|\*\*[^*]+\*\*|https?://\S+')
"""What no link is put into: code, links, anchors, small print, titles in bold."""

_NAMED_IN_CODE: Final = re.compile(r"\b([a-z_]+\.C\d+)\b")

UNLINKED: Final = frozenset(
    {
        "access",
        "call",
        "copy",
        "done",
        "fault",
        "free",
        "function",
        "input",
        "item",
        "place",
        "point",
        "real",
        "reduced",
        "round",
        "slice",
        "source",
        "start",
        "started",
        "state",
        "type",
        "value",
        "wait",
    }
)
"""Words that mostly stand for what everybody takes them for."""


def linked(pages: Mapping[str, str]) -> dict[str, str]:
    """Return the pages with links, each to the page that has the anchor; those in code follow the code in a line."""
    homes = {anchor: page for page, text in pages.items() for anchor in _ANCHOR.findall(text)}
    return {page: _page(page, text, homes) for page, text in pages.items()}


def link_to(clause: str, page: str, homes: Mapping[str, str]) -> str:
    """Return the link from a page to a clause, or its id where no page has it."""
    anchor = clause.lower()
    if anchor not in homes:
        return f"`{clause}`"
    return f"[`{clause}`]({'' if homes[anchor] == page else homes[anchor]}#{anchor})"


def _page(page: str, text: str, homes: Mapping[str, str]) -> str:
    lines: list[str] = []
    code: list[str] | None = None
    seen: set[str] = set()
    for line in text.split("\n"):
        if line.startswith("```"):
            lines.append(line)
            named = dict.fromkeys(_NAMED_IN_CODE.findall("\n".join(code or ())))
            known = [link_to(clause, page, homes) for clause in named if clause.lower() in homes]
            if code is not None and known:
                lines += ["", f"The code names {', '.join(known)}."]
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
            lines.append(line)
        elif line.startswith("#"):
            seen.clear()
            lines.append(line)
        else:
            lines.append(_line(page, line, homes, seen))
    return "\n".join(lines)


def _line(page: str, line: str, homes: Mapping[str, str], seen: set[str]) -> str:
    if line.startswith(("| ---", "|---", "<details>", "This file is written")):
        return line
    parts: list[str] = []
    at = 0
    for kept in _KEPT.finditer(line):
        parts += [_words(page, line[at : kept.start()], seen), _kept(page, line, kept, homes)]
        at = kept.end()
    return "".join([*parts, _words(page, line[at:], seen)])


def _kept(page: str, line: str, kept: re.Match[str], homes: Mapping[str, str]) -> str:
    """Return what was kept; the id of a clause as a link, but not beside its own anchor."""
    clause = _CLAUSE.fullmatch(kept.group())
    if clause is None or line[: kept.start()].endswith("</a>"):
        return kept.group()
    return link_to(clause.group(1), page, homes)


def _words(page: str, text: str, seen: set[str]) -> str:
    def put(found: re.Match[str]) -> str:
        word = _singular(found.group().lower())
        if word in seen:
            return found.group()
        seen.add(word)
        return f"[{found.group()}]({'' if page == MAIN else MAIN}#word-{word.replace(' ', '-')})"

    return _pattern().sub(put, text)


@cache
def _pattern() -> re.Pattern[str]:
    words = sorted((word for word in WORDS if word not in UNLINKED), key=len, reverse=True)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(re.escape(word) for word in words)})s?(?![\w-])", re.IGNORECASE)


def _singular(word: str) -> str:
    return word if word in WORDS else word.removesuffix("s")
