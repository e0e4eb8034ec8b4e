"""A comparison as plain lines, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from conformance.cases.escapes import printable
from conformance.history.changes import Comparison, Kind
from conformance.history.formats.told import HEADINGS, MEANINGS, Causes, Group, groups, sentence

BRIEF: Final[frozenset[Kind]] = frozenset({"new", "removed"})
"""Kinds of which only counts are told where there are many."""

SHOWN: Final = 3
"""Cases of a group that are named."""


def as_lines(comparison: Comparison, causes: Causes) -> Iterator[str]:
    """Yield the lines that say what differs, the regressions first."""
    before, after = comparison.before, comparison.after
    yield f"{before.name} ({before.head.started}) → {after.name} ({after.head.started}): {sentence(comparison)}"
    if comparison.why_incomplete is not None:
        yield f"the later run is incomplete: {comparison.why_incomplete}"
    kind: Kind | None = None
    for group in groups(comparison, causes):
        if group.kind != kind:
            kind = group.kind
            yield ""
            yield f"{HEADINGS[kind]}: {MEANINGS[kind]}"
        yield from _group(group)


def _group(group: Group) -> Iterator[str]:
    many = f"{group.cases:,} case{'s' * (group.cases != 1)}"
    yield printable(f"  {group.backend} {group.op}: {group.words}, {many}")
    if group.kind not in BRIEF:
        for case in group.listed[:SHOWN]:
            yield printable(f"    {case}")
        if group.detail:
            yield printable(f"    {' '.join(group.detail.split())[:300]}")
    cause = group.cause
    if cause is not None:
        until = f", until {cause.expires.isoformat()}" if cause.expires else ""
        yield printable(f"    cause: {cause.title}: {cause.says}{until}")
        for line in cause.evidence:
            yield printable(f"      {line}")
        if cause.then:
            yield printable(f"      try: {cause.then}")
