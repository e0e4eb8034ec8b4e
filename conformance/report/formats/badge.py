"""A small picture that says whether a backend conforms."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Final

from conformance.report.formats.junit import xml_text
from conformance.report.formats.words import held_of
from conformance.report.summary import MARK, BackendSummary, Verdict

_COLOURS: Final = {
    "conformant": "#1a7f4b",
    "partial": "#5b6470",
    "not_conformant": "#b3261e",
    "incomplete": "#8a5a00",
    "inconclusive": "#5b6470",
}

_WIDTH: Final = 6.6
"""Pixels of one character at 11 px, the widest of Verdana, DejaVu Sans and Helvetica for lower-case text."""


def badge(backend: BackendSummary) -> str:
    """Return an SVG of 20 px height: the backend's name and its verdict with the *must* clauses held."""
    words = backend.title.lower()
    if backend.verdict not in ("incomplete", "inconclusive"):  # whose figures would read like a certificate
        words = f"{words} {held_of(backend.must)}"
    return drawn(backend.label, words, backend.verdict)


def drawn(label: str, words: str, verdict: Verdict) -> str:
    """Return an SVG of 20 px height with a name and words on its verdict."""
    left, right = xml_text(f"conformance: {label}"[:60]), xml_text(words)
    first, second = (round(len(text) * _WIDTH) + 12 for text in (left, right))
    title = escape(f"{left}, {right}")
    text = 'y="14" text-anchor="middle" fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{first + second}" height="20" role="img" aria-label="{title}">'
        f"<!-- {MARK} --><title>{title}</title>"
        f'<rect width="{first + second}" height="20" rx="3" fill="#3b424c"/>'
        f'<path d="M{first} 0h{second - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{second - 3}z" '
        f'fill="{_COLOURS[verdict]}"/>'
        f'<text x="{first / 2}" {text} textLength="{first - 12}">{escape(left)}</text>'
        f'<text x="{first + second / 2}" {text} textLength="{second - 12}">{escape(right)}</text></svg>\n'
    )


def badge_names(backends: Sequence[BackendSummary]) -> tuple[str, ...]:
    """Return a file name for each backend, made of its label, all different."""
    return tuple(f"badge-{stem}.svg" for stem in file_stems([backend.label for backend in backends]))


def file_stems(labels: Sequence[str]) -> tuple[str, ...]:
    """Return a word for each label that any file system takes as the beginning of a name, all different."""
    taken: Counter[str] = Counter()
    stems = []
    for label in labels:
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", label).strip("-").lower()[:60] or "backend"
        taken[stem] += 1
        stems.append(stem if taken[stem] == 1 else f"{stem}-{taken[stem]}")
    return tuple(stems)
