"""How a run log begins, and what of an earlier one a run goes on from."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from conformance.runner.log.backend_sources import backend_sources
from conformance.runner.log.environment import digests, environment
from conformance.runner.log.reading import LONGEST_LINE, LogError, read
from conformance.runner.log.storage import stored
from conformance.runner.plan import Plan
from conformance.runner.records.record import FORMAT, BackendEntry, CaseRecord, DrawnParts, Header, Record
from conformance.runner.worker.interface import Judgeable
from conformance.vectors.deck import deck

CASE_LIMIT: Final = "case limit"
"""What the environment calls how long a case may go without an answer."""

SANDBOX: Final = "sandbox"
"""What the environment calls that in which workers are, ``NO_SANDBOX`` where they are in none."""

NO_SANDBOX: Final = "none"

DECK: Final = "deck"
"""What the environment calls the deck that was asked, by the beginning of its digest; ``NO_DECK`` where none was."""

NO_DECK: Final = "none"

SLICE: Final = "slice"
"""What the environment of a slice calls which part it is, K/N."""

_BEGINS: Final = b'{"type":"header"'

_SAME: Final[tuple[tuple[str, str, str | None], ...]] = (
    ("spec_digest", "specification", None), ("reference_digest", "reference", None),
    ("suites", "suites", "--suite"), ("profile", "profile", "--profile"), ("seed", "seed", "--seed"),
    ("examples", "examples", "--examples"), ("ops", "operations", "--op"), (CASE_LIMIT, CASE_LIMIT, "--case-limit"),
    (SANDBOX, SANDBOX, None), (DECK, DECK, None), (SLICE, SLICE, None),
    ("backends", "backends", None),
)  # fmt: skip
"""What must be the same in a run that goes on: a field, its name, and the option that decides it."""


def header_of(plan: Plan, workers: Mapping[str, Judgeable]) -> Header:
    """Return the header of a run of ``plan`` on every worker, by name."""
    spec, reference = digests()
    entries = tuple(
        BackendEntry(
            name=name,
            description=worker.ready.description,
            claims=worker.ready.claims,
            guarantees=worker.ready.guarantees,
            follows=worker.ready.follows,
            number_model=worker.ready.number_model,
        )
        for name, worker in workers.items()
    )
    part = {SLICE: "{}/{}".format(*plan.slice)} if plan.slice else {}
    return Header(
        format=FORMAT,
        suites=plan.suites,
        spec_digest=spec,
        reference_digest=reference,
        seed=plan.seed,
        profile=plan.profile,
        examples=plan.examples,
        ops=plan.ops,
        started=now(),
        environment=environment()
        | backend_sources(workers)
        | {CASE_LIMIT: f"{plan.case_limit:g} s", SANDBOX: "bubblewrap" if plan.sandbox else NO_SANDBOX}
        | ({DECK: deck().digest[:16]} if plan.deck != 0 else {})
        | part,
        backends=entries,
    )


def kept_of(path: Path, header: Header, replayed: Collection[tuple[str, str]], *, resume: bool) -> list[Record] | None:
    """Return the header and the case records of an earlier run of the same plan, or ``None`` to start anew.

    Those of ``replayed`` cases, by backend and id, are left out: they are known failures, and are judged with what is
    expected of them now. So are, of two records of a case or of what was drawn, the earlier ones. A log that a killed
    run left without a whole header has nothing to go on from, and is removed. Raise ``LogError`` where the log is there
    and ``resume`` is false, is that of another plan, or has a record of an operation that was not asked for.
    """
    if not stored(path).exists():
        return None
    if not resume:
        raise LogError(f"{stored(path)} exists: choose another folder with -o, or go on with --resume")
    if _not_begun(path):
        path.unlink()
        return None
    old, *records = read(path)
    assert isinstance(old, Header)
    for field, word, option in _SAME:
        had, has = _of(old, field), _of(header, field)
        if had == has:
            continue
        if option is None:
            differ = "differ" if word.endswith("s") else "differs"
            raise LogError(f"{path} is of another run: its {word} {differ}; choose another folder with -o")
        right = f"give {option} {had.replace(' ', '')}, or another folder with -o"
        raise LogError(f"{path} is of another run: the log has {word} {had} and this run {has}; {right}")
    last = {(record.backend, record.case): record for record in records if isinstance(record, CaseRecord)}
    strange = next((record for record in last.values() if record.op not in header.ops), None)
    if strange is not None:
        raise LogError(f"{path}: {strange.case!r:.80} is a case of {strange.op!r:.80}, which this run does not ask for")
    return [
        old,
        *(record for key, record in last.items() if key not in replayed and record.expected is None),
        *[record for record in records if isinstance(record, DrawnParts)][-1:],
    ]


def _not_begun(path: Path) -> bool:
    """Return whether a log is empty or has a part of its header alone."""
    if not path.exists():
        return False
    with path.open("rb") as lines:
        first = lines.readline(LONGEST_LINE)
    if len(first) == LONGEST_LINE:  # whatever it is, a killed run did not leave it
        return False
    return not first.endswith(b"\n") and (first.startswith(_BEGINS) or _BEGINS.startswith(first))


def _of(header: Header, field: str) -> Any:
    unknown = {CASE_LIMIT: "unknown", SANDBOX: NO_SANDBOX, DECK: NO_DECK, SLICE: "none"}
    value = header.environment.get(field, unknown[field]) if field in unknown else getattr(header, field)
    return value if field == "backends" else ", ".join(value) if isinstance(value, tuple) else str(value)


def now() -> str:
    """Return the time, as logs have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
