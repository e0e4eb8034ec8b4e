"""What programs read of a site: JSON, and badges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.history.site.overview import Overview
from conformance.history.site.trends import Trend
from conformance.report.formats.badge import drawn, file_stems


def endpoints(made: Overview, told: list[Trend]) -> Iterator[tuple[str, Any]]:
    """Yield the path of each JSON file below ``api``, and what is in it."""
    stems = dict(zip(made.by_backend, file_stems(list(made.by_backend)), strict=True))
    backends = [
        {
            "backend": one.backend, "verdict": one.verdict, "title": one.title, "must_held": one.held,
            "must_total": one.total, "framework": one.framework, "driver": one.driver, "run": made.run(one.run).id,
            "started": made.run(one.run).started, "badge": f"badges/{stems[one.backend]}.svg",
            "cells": {op: cell._asdict() | {"state": cell.state} for op, cell in _cells(made, one.backend).items()},
        }
        for one in made.today.values()
    ]  # fmt: skip
    yield "backends", backends
    yield (
        "findings",
        [
            {
                **one._asdict(),
                "first": one.first.started,
                "last": one.last.started,
                "before": one.before and one.before.started,
            }
            for one in made.found
        ],
    )
    yield "runs", [{**one._asdict(), "run": None} for one in made.runs]
    yield "trends", [one._asdict() for one in told]
    for one in made.today.values():
        words = one.title.lower() + (f" {one.held} of {one.total}" if one.total else "")
        # The form of shields.io, for who draws badges there.
        colour = {"conformant": "green", "partial": "green", "not_conformant": "red"}.get(one.verdict, "lightgrey")
        yield f"badges/{stems[one.backend]}", {
            "schemaVersion": 1, "label": f"conformance: {one.backend}", "message": words, "color": colour,
        }  # fmt: skip


def _cells(made: Overview, backend: str) -> dict[str, Any]:
    return dict(made.cells.get((made.today[backend].run, backend), {}))


def badges(made: Overview) -> Iterator[tuple[str, str]]:
    """Yield the name of each badge, and the picture."""
    for one, stem in zip(made.today.values(), file_stems(list(made.today)), strict=True):
        words = one.title.lower() + (f" ({one.held} of {one.total})" if one.total else "")
        yield stem, drawn(one.backend, words, one.verdict)
