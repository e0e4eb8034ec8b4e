"""A case replayed by the suite of another environment."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

import msgspec

from conformance.history.error import UnfinishedError
from conformance.history.versions.bisection import TriedVersions
from conformance.runner.outcomes import UNJUDGED

BESIDE: Final = 300.0
"""Seconds beside a case's own for a process that imports a framework and starts its ranks on a busy machine."""


class _Backend(msgspec.Struct):
    outcome: str
    blame: str | None = None
    detail: str | None = None


class _Replay(msgspec.Struct):
    backends: dict[str, _Backend]


def replayed(python: Path, case: Path, backend: str, case_limit: float) -> TriedVersions:
    """Return what a case comes to on a backend of the environment of ``python``.

    What is not judged there, an error of the adapter among it, is not known. Raise ``UnfinishedError`` where the suite
    itself cannot say.
    """
    ask = [
        str(python),
        "-m",
        "conformance",
        "replay",
        str(case),
        "-b",
        backend,
        "--json",
        "--case-limit",
        f"{case_limit:g}s",
    ]
    try:
        ended = subprocess.run(ask, check=False, capture_output=True, text=True, timeout=case_limit + BESIDE)
        one = msgspec.json.decode(ended.stdout, type=_Replay).backends[backend]
    except subprocess.TimeoutExpired:
        raise UnfinishedError(f"the replay with {python} did not end") from None
    except (msgspec.MsgspecError, KeyError):
        said = ended.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise UnfinishedError(said[0]) from None
    if one.outcome in UNJUDGED:
        return TriedVersions(one.outcome, known=False, why=one.detail or one.outcome)
    return TriedVersions(f"{one.outcome} {one.blame}" if one.blame else one.outcome)
