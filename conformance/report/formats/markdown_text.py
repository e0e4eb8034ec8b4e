"""Text of a report as Markdown: whatever a field says, it is shown as it is, and is no markup.

``marked`` is the one way from a field to Markdown: it escapes every field that is not Markdown already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from conformance.cases.escapes import printable

_ADDRESS: Final = re.compile(r"https?://[^\s<>]+", re.IGNORECASE)
_WITHIN: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./+-]*")
_SIGNS: Final = re.compile(r"([\\`*_{}\[\]<>#|~&!$])")
"""Signs that begin or end markup wherever they stand; in a table cell a bar does."""

_FIRST: Final = re.compile(r"\d{1,9}[.)](?=\s|$)|[-+=](?![A-Za-z0-9])")
"""What at the beginning of a line makes a list, a rule or a heading, by its last sign."""


class MarkdownText(str):
    """Text that is Markdown already."""

    __slots__ = ()


def escaped(text: object) -> MarkdownText:
    """Return ``text`` as one line that Markdown shows as it is, at the beginning of a line and in a table cell too."""
    # Some readers make links of addresses that stand in a text.
    return MarkdownText(re.sub(r"(www)\.", r"\1\\.", _shown(text).replace("://", r"\://"), flags=re.IGNORECASE))


def marked(template: str, *fields: object) -> MarkdownText:
    """Return a line of Markdown with ``fields`` in the places of ``template``, each escaped unless it is Markdown."""
    return MarkdownText(template.format(*map(_field, fields)))


def joined(fields: Iterable[object], between: str = ", ") -> MarkdownText:
    """Return fields one after the other, each escaped unless it is Markdown."""
    return MarkdownText(between.join(map(_field, fields)))


def code(text: object) -> MarkdownText:
    """Return ``text`` as one line of code: its fence has more backticks than any run of them in the text."""
    line = _line(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", line)), default=0) + 1)
    apart = " " if not line or line[0] in "` " or line[-1] in "` " else ""
    return MarkdownText(f"{fence}{apart}{line}{apart}{fence}")


def linkable(target: str) -> bool:
    """Return whether a reader may be sent there: to a web address, or to a file beside the report."""
    return bool(_ADDRESS.fullmatch(target) or _WITHIN.fullmatch(target))


def link(text: object, target: str) -> MarkdownText:
    """Return ``text`` with a link to a web address or to a file beside the report; without one to anything else."""
    if not linkable(target):
        return escaped(text)
    return MarkdownText(f"[{_shown(text)}](<{quote(target, safe=_SAFE)}>)")


_SAFE: Final = "%:/?#[]@!$&'()*+,;=-._~"


def _shown(text: object) -> str:
    line = _SIGNS.sub(r"\\\1", _line(text))
    if first := _FIRST.match(line):
        line = f"{line[: first.end() - 1]}\\{line[first.end() - 1 :]}"
    return line


def _field(text: object) -> str:
    return text if isinstance(text, MarkdownText) else escaped(text)


def _line(text: object) -> str:
    return printable(" ".join(str(text).split()))
