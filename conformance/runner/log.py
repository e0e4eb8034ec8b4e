"""The run log: a header line, one line for each case and backend, a footer line."""

from __future__ import annotations

import msgspec

from conformance.judging.clause import Held, Outcome


class BackendEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A judged backend: what it says of itself and what it claims."""

    name: str
    description: dict[str, str]
    claims: dict[str, dict[str, list[str]]]


class Header(msgspec.Struct, frozen=True, kw_only=True, tag="header"):
    """What was run, with what, where. Digests are SHA-256 of the sources they name."""

    format: int = 1
    suites: tuple[str, ...]
    spec_digest: str
    reference_digest: str
    seed: int
    profile: str
    examples: int
    ops: tuple[str, ...]
    started: str
    environment: dict[str, str]
    backends: tuple[BackendEntry, ...]


class CaseRecord(msgspec.Struct, frozen=True, kw_only=True, tag="case", omit_defaults=True):
    """One case on one backend.

    ``clauses`` has a verdict for every clause that speaks about the case (none when it was not judged).
    ``blame`` is the broken clause that explains the outcome; ``detail`` says what was seen and expected.
    ``minimal`` marks a failure that no listed reduction keeps failing; ``bucket`` counts the cases of the
    run with the same operation, blame and outcome. ``file`` is the failing case, relative to the log.
    """

    backend: str
    case: str
    op: str
    dtype: str
    world: int
    outcome: Outcome
    clauses: dict[str, Held]
    seconds: float
    blame: str | None = None
    requirement: str | None = None
    detail: str | None = None
    file: str | None = None
    minimal: bool = False
    under_claimed: bool = False


class Footer(msgspec.Struct, frozen=True, kw_only=True, tag="footer"):
    """Counts by backend and outcome; a log without it is incomplete."""

    finished: str
    seconds: float
    counts: dict[str, dict[str, int]]
    clauses_never_exercised: tuple[str, ...] = ()


Record = Header | CaseRecord | Footer
