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

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from conformance.cases.escapes import printable
from conformance.report.counts.numbers import table
from conformance.report.counts.placements import table as steps
from conformance.report.counts.tally import COUNTED, STATES, Tally
from conformance.report.counts.topics import table as topics
from conformance.report.formats.markdown import again, replay
from conformance.report.formats.markdown_text import linkable
from conformance.report.formats.words import (
    FLAKY,
    MEANINGS,
    STEPS,
    TOPICS,
    VERDICT_GLYPHS,
    WORDS,
    figure,
    findings_of,
    power_of,
)
from conformance.report.inputs.specification import ClauseText
from conformance.report.summary import MARK, Cell, Report
from conformance.runner.outcomes import FAILING, OUTCOMES

SCRIPTS: Final = (
    "query.js", "nodes.js", "matrix.js", "panel.js", "views.js", "keys.js", "theme.js", "address.js", "main.js",
)  # fmt: skip

COMPRESSED: Final = 100_000
"""Bytes of JSON from which the data is carried compressed: about a fifth in base64, unpacked by the browser."""

SHOWN_SOURCE: Final = 64_000
"""Characters of a case file that the page carries; a longer one lies beside the page."""

SHOWN_FINDINGS: Final = 100
"""Findings that are there when the page opens, some seven nodes each; the others come with a button."""

SOME: Final = 4
"""Operations or types that the line of a finding names; how many more there are it counts."""

EARLY: Final = 'document.documentElement.className = "js";'
"""Runs before the first paint, so that what only scripts can open never flashes up."""


@dataclass(frozen=True)
class MatrixRow:
    """A row of the matrix, by its ``number``: an operation, or a clause of it."""

    number: int
    op: str
    clause: str | None
    text: ClauseText | None
    summary: str
    aliases: str
    cells: Sequence[Cell]


def as_html(report: Report, folder: str = "", documents: str = "") -> str:
    """Return the page; replay commands name case files in ``folder``, and clauses are linked to pages in ``documents``.

    At opening it has the backends, the findings and a row for each operation. Everything else travels as data, of which
    the script makes nodes when they are asked for.
    """
    style, script = _page("page.css"), "\n".join(_page(name) for name in SCRIPTS)
    lines = tuple(_lines(report))
    loose = [number for number, bucket in enumerate(report.buckets) if bucket.finding is None]
    environment = _environment()
    environment.globals.update(
        texts={text.id: text for text in report.clauses},
        shown_source=SHOWN_SOURCE,
        replay=lambda bucket: replay(bucket, folder),
        again=lambda found: again(found, folder),
    )
    blob, encoding = _data(report, lines, _parts(environment, report), documents)
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(EARLY)} {_hash(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return environment.get_template("page.html.j2").render(
        report=report,
        mark=MARK,
        policy=policy,
        style=Markup(style),  # noqa: S704 - our own file, and its hash is in the policy
        early=Markup(EARLY),  # noqa: S704 - our own script
        script=Markup(script),  # noqa: S704 - our own script
        data=Markup(blob),  # noqa: S704 - escaped by ``_data``
        encoding=encoding,
        lines=lines,
        loose=loose,
        dtypes=_dtypes(report),
        outcomes=OUTCOMES,
        states=STATES,
        failing=FAILING,
        words=WORDS,
        meanings=MEANINGS,
        verdict_glyphs=VERDICT_GLYPHS,
        power_of=power_of,
        findings_of=findings_of,
        shown_findings=SHOWN_FINDINGS,
        classes=report.classes,
        placements=report.placements,
        about_flaky=FLAKY,
        about_steps=STEPS,
        treated=report.treated,
        about_topics=TOPICS,
    )


def _parts(environment: Environment, report: Report) -> dict[str, str]:
    """Return what is opened later, by the name that the page has for it, as text with its markup."""
    macros: Any = environment.get_template("parts.html.j2").module
    labels = [backend.label for backend in report.backends]
    parts = {f"bucket-{number}": macros.bucket(bucket) for number, bucket in enumerate(report.buckets)}
    for number, found in enumerate(report.findings):
        parts[f"finding-{number}"] = macros.finding(found)
    parts["more"] = macros.told(report, SHOWN_FINDINGS, len(report.findings))
    parts["classes"] = macros.classes(table(report.classes, labels), labels)
    parts["placements"] = macros.placements(steps(report.placements, labels), labels)
    parts["topics"] = macros.topics(topics(report.topics, report.treated, labels), labels)
    parts["mutants"] = macros.mutants(report)
    parts["never"] = macros.never(report.never_exercised)
    parts |= {f"run-{number}": macros.run(run) for number, run in enumerate(report.runs)}
    for number, backend in enumerate(report.backends):
        features = sorted({feature for claim in backend.claims.values() for feature in claim})
        parts[f"backend-{number}"] = macros.backend(backend, features)
    return {name: str(text) for name, text in parts.items()}


def _environment() -> Environment:
    environment = Environment(
        autoescape=True,
        finalize=_harmless,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_page),
    )
    environment.tests["linkable"] = linkable
    environment.filters.update(cell_link=cell_link, figure=figure, share=_share, some=_some)
    return environment


def _harmless(value: Any) -> Any:
    """Return what the page shows of a value: control and bidirectional characters of texts are escapes."""
    plain = isinstance(value, str) and not isinstance(value, Markup)
    return "\n".join(map(printable, value.split("\n"))) if plain else value


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


def _some(words: Sequence[str]) -> str:
    more = len(words) - SOME
    return ", ".join(words[:SOME]) + (f" and {more} more" if more > 0 else "")


def _lines(report: Report) -> Iterable[MatrixRow]:
    texts = {text.id: text for text in report.clauses}
    first = {text.op: text for text in reversed(report.clauses) if not text.shared}
    rows: dict[tuple[str, str | None], list[Cell]] = {}
    for cell in report.cells:
        rows.setdefault((cell.op, cell.clause), []).append(cell)
    for number, ((op, clause), cells) in enumerate(rows.items()):
        about = first.get(op)
        aliases = [f"{system}: {', '.join(names)}" for system, names in sorted(about.aliases.items())] if about else []
        yield MatrixRow(
            number=number,
            op=op,
            clause=clause,
            text=texts.get(clause) if clause else None,
            summary=about.summary if about and not clause else "",
            aliases="; ".join(aliases) if not clause else "",
            cells=cells,
        )


def _dtypes(report: Report) -> list[str]:
    return sorted({dtype for cell in report.cells for dtype in cell.by_dtype})


def _data(report: Report, lines: Sequence[MatrixRow], parts: Mapping[str, str], documents: str) -> tuple[str, str]:
    """Return what the script needs beside the page's own text, and how it is encoded: plain or gzip in base64."""
    content: dict[str, Any] = {
        "fields": [*COUNTED, *OUTCOMES],
        "outcomes": OUTCOMES,
        "documents": documents,
        "failing": sorted(FAILING),
        "backends": [backend.label for backend in report.backends],
        "words": WORDS,
        "parts": parts,
        "buckets": [
            {
                "backend": bucket.backend,
                "op": bucket.op,
                "clause": bucket.clause,
                "case": bucket.case,
                "finding": bucket.finding,
            }
            for bucket in report.buckets
        ],
        "rows": [
            {
                "op": line.op,
                "clause": line.clause,
                "requirement": _requirement(line.text) if line.text else "",
                "text": line.text.text if line.text else line.summary,
                "source": line.text.source if line.text else "",
                "document": line.text.document if line.text else "",
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
