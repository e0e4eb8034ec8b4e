"""The page: one file with everything in it, that opens from disk and can reach no network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from conformance.report.markdown import again, replay
from conformance.report.numbers import table
from conformance.report.specification import ClauseText
from conformance.report.summary import MARK, Bucket, Cell, Report
from conformance.report.tally import COUNTED, STATES, Tally
from conformance.report.words import GLYPHS, MEANINGS, VERDICT_GLYPHS, WORDS, figure
from conformance.runner.outcomes import FAILING, OUTCOMES

SCRIPTS: Final = ("query.js", "matrix.js", "panel.js", "keys.js", "main.js")

COMPRESSED: Final = 300_000
"""Bytes of JSON from which the data is carried compressed: about a third in base64, unpacked by the browser."""

SHOWN_SOURCE: Final = 64_000
"""Characters of a case file that the page carries; a longer one lies beside the page."""

EARLY: Final = 'document.documentElement.className = "js";'
"""Runs before the first paint, so that rows which the script folds never flash open."""


@dataclass(frozen=True)
class Line:
    """A row of the matrix: an operation, or a clause of it."""

    op: str
    clause: str | None
    text: ClauseText | None
    summary: str
    aliases: str
    cells: Sequence[Cell]


def as_html(report: Report, folder: str = "") -> str:
    """Return the page; replay commands name case files in ``folder``."""
    style, script = _page("page.css"), "\n".join(_page(name) for name in SCRIPTS)
    lines = tuple(_lines(report))
    blob, encoding = _data(report, lines)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(EARLY)} {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .from_string(_page("page.html.j2"))
        .render(
            report=report,
            mark=MARK,
            policy=policy,
            style=Markup(style),  # noqa: S704 - our own file, and its hash is in the policy
            early=Markup(EARLY),  # noqa: S704 - our own script
            script=Markup(script),  # noqa: S704 - our own script
            data=Markup(blob),  # noqa: S704 - escaped by ``_data``
            encoding=encoding,
            lines=lines,
            dtypes=_dtypes(report),
            outcomes=OUTCOMES,
            states=STATES,
            failing=FAILING,
            glyphs=GLYPHS,
            words=WORDS,
            meanings=MEANINGS,
            verdict_glyphs=VERDICT_GLYPHS,
            features={b.label: sorted({f for claim in b.claims.values() for f in claim}) for b in report.backends},
            anchors=_anchors(report),
            shown_source=SHOWN_SOURCE,
            replay=lambda bucket: replay(bucket, folder),
            again=lambda found: again(found, folder),
            classes=table(report.classes, [b.label for b in report.backends]),
            texts={text.id: text for text in report.clauses},
        )
    )


def _environment() -> Environment:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(cell_link=cell_link, figure=figure, share=_share)
    return environment


@cache
def _page(name: str) -> str:
    return files("conformance.report").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def cell_link(backend: str, op: str, clause: str | None = None) -> str:
    """Return the permalink of a cell, without ``#``."""
    return "/cell/" + "/".join(quote(part, safe="") for part in (backend, op, clause) if part is not None)


def _share(count: int, whole: int) -> str:
    return f"{100 * count / whole:.2f}" if whole else "0"


def _lines(report: Report) -> Iterable[Line]:
    texts = {text.id: text for text in report.clauses}
    first = {text.op: text for text in reversed(report.clauses) if not text.shared}
    rows: dict[tuple[str, str | None], list[Cell]] = {}
    for cell in report.cells:
        rows.setdefault((cell.op, cell.clause), []).append(cell)
    for (op, clause), cells in rows.items():
        about = first.get(op)
        aliases = [f"{system}: {', '.join(names)}" for system, names in sorted(about.aliases.items())] if about else []
        yield Line(
            op=op,
            clause=clause,
            text=texts.get(clause) if clause else None,
            summary=about.summary if about and not clause else "",
            aliases="; ".join(aliases) if not clause else "",
            cells=cells,
        )


def _anchors(report: Report) -> Mapping[int, Sequence[str]]:
    """Return, for each bucket, the permalinks that lead to it when no script runs."""
    taken: set[str] = set()
    found: dict[int, list[str]] = {}
    for index, bucket in enumerate(report.buckets):
        mine = [f"/case/{bucket.case}", *_cells_of(bucket)]
        found[index] = [anchor for anchor in mine if anchor not in taken]
        taken.update(mine)
    return found


def _cells_of(bucket: Bucket) -> tuple[str, ...]:
    whole = f"/cell/{bucket.backend}/{bucket.op}"
    return (whole, f"{whole}/{bucket.clause}") if bucket.clause else (whole,)


def _dtypes(report: Report) -> list[str]:
    return sorted({dtype for cell in report.cells for dtype in cell.by_dtype})


def _data(report: Report, lines: Sequence[Line]) -> tuple[str, str]:
    """Return what the script needs beside the page's own text, and how it is encoded: plain or gzip in base64."""
    content: dict[str, Any] = {
        "fields": [*COUNTED, *OUTCOMES],
        "outcomes": OUTCOMES,
        "failing": sorted(FAILING),
        "backends": [backend.label for backend in report.backends],
        "words": WORDS,
        "glyphs": GLYPHS,
        "rows": [
            {
                "op": line.op,
                "clause": line.clause,
                "requirement": _requirement(line.text) if line.text else "",
                "text": line.text.text if line.text else line.summary,
                "source": line.text.source if line.text else "",
                "aliases": line.aliases,
                "states": [cell.state for cell in line.cells],
                "tallies": [{dtype: _numbers(tally) for dtype, tally in c.by_dtype.items()} for c in line.cells],
            }
            for line in lines
        ],
    }
    text = json.dumps(content, separators=(",", ":"))
    if len(text) <= COMPRESSED:
        # No "<" at all: neither "</script>" nor "<!--" can end or change the element.
        return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"), "json"
    packed = gzip.compress(text.encode(), mtime=0)
    return base64.b64encode(packed).decode(), "gzip"


def _requirement(text: ClauseText) -> str:
    return f"{text.requirement}; must for whoever guarantees {text.guarantee}" if text.guarantee else text.requirement


def _numbers(tally: Tally) -> list[int]:
    return [getattr(tally, name) for name in COUNTED] + [tally.outcomes.get(outcome, 0) for outcome in OUTCOMES]
