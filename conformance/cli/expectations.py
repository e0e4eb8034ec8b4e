"""What people expect of backends, in a folder beside the reports: known failures and explanations of findings."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from conformance.report import Explanation, ReportError, read_explanations
from conformance.runner.known.file import KnownCase, KnownError, read_known

KNOWN: Final = "known.json"
EXPLANATIONS: Final = "explanations.json"
"""Files of a folder of expectations, of which either may be missing."""


def explanations_in(folder: Path, judged: Collection[str]) -> tuple[Explanation, ...]:
    """Return the explanations in a folder of expectations, whose known failures must be in order too.

    ``judged`` are the backends whose known failures must hold today. Raise ``ReportError`` or ``KnownError`` where
    something is not in order, or its day is over.
    """
    if not any((folder / name).is_file() for name in (KNOWN, EXPLANATIONS)):
        raise ReportError(f"{folder} holds neither {KNOWN} nor {EXPLANATIONS}; name a folder of expectations")
    if (folder / KNOWN).is_file():
        known_in(folder / KNOWN, judged)
    return read_explanations(folder / EXPLANATIONS) if (folder / EXPLANATIONS).is_file() else ()


def known_in(path: Path, judged: Collection[str]) -> tuple[KnownCase, ...]:
    """Return the known failures in a file; raise ``KnownError`` where it is not in order, or the day of one is over.

    ``judged`` are the backends whose entries must hold today.
    """
    found, today = read_known(path, judged), datetime.now(UTC).date()
    for one in found:
        entry = one.entry
        if entry.backend in judged and entry.expiry < today:
            raise KnownError(
                f"{one.expiry_where}: {entry.case} on {entry.backend} has an entry that expired on "
                f"{entry.expiry.isoformat()}; mend {entry.issue}, or agree on a later day with {entry.owner}"
            )
    return found
