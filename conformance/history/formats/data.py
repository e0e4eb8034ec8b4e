"""A comparison as plain data."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.history.changes import KINDS, Comparison
from conformance.history.formats.told import Causes, groups
from conformance.history.outline import Outline

FORM = "mesh-conformance diff 1"


def as_data(comparison: Comparison, causes: Causes) -> dict[str, Any]:
    """Return a comparison as JSON has it; ``status`` is the exit status."""
    before, after = comparison.before, comparison.after
    names = sorted({*before.entries, *after.entries})
    return {
        "form": FORM,
        "status": comparison.status,
        "before": _run(before),
        "after": _run(after),
        "counts": {kind: len(comparison.of(kind)) for kind in KINDS},
        "alike": comparison.alike,
        "differences": {
            name: [
                {"sort": each.sort, "name": each.name, "before": each.before, "after": each.after}
                for each in comparison.differing[name]
                if each.sort not in ("claims", "terms")
            ]
            for name in names
        },
        "groups": [msgspec.to_builtins(group) for group in groups(comparison, causes)],
    }


def _run(run: Outline) -> dict[str, Any]:
    head = run.head
    return {
        "id": run.id,
        "folder": run.name,
        "started": head.started,
        "specification": head.spec_digest,
        "reference": head.reference_digest,
        "seed": head.seed,
        "backends": sorted(run.entries),
        "incomplete": run.why_incomplete,
    }
