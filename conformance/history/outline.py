"""The outline of a run: of its log what comparing needs, read at a million records in some seconds.

Of a record only what says what its case came to is decoded. Logs of every format up to this suite's are read: a
field that an older one did not have is absent.
"""

from __future__ import annotations

import gc
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.history.error import HistoryError
from conformance.runner.log.reading import LONGEST
from conformance.runner.log.storage import LOG, opened, stored
from conformance.runner.outcomes import FAILING, OUTCOMES, OWED
from conformance.runner.records.company import Company
from conformance.runner.records.record import FORMAT

SEVERITY: Final = {"may": 1, "should": 2, "must": 3}
"""How grave it is that a clause of this requirement is broken; 0 is a pass."""


class Expectation(msgspec.Struct, frozen=True, gc=False):
    """What somebody said of a case that fails: ``state`` tells whether it did so."""

    state: str = ""
    says: str | None = None


class CaseOutline(msgspec.Struct, frozen=True, gc=False, tag_field="type", tag="case"):
    """What one case came to on one backend. ``clauses`` is as it was written."""

    backend: str
    case: str
    outcome: str
    op: str = ""
    suite: str = "collectives"
    dtype: str = ""
    world: int = 0
    clauses: msgspec.Raw = msgspec.Raw(b"{}")
    seconds: float = 0.0
    blame: str | None = None
    requirement: str | None = None
    detail: str | None = None
    error: str | None = None
    unrepeated: str | None = None
    came_to: dict[str, int] = {}
    expected: Expectation | None = None
    origin: str | None = None
    observation: str | None = None
    company: Company | None = None

    @property
    def severity(self) -> int:
        """Return 0 for a pass, else how grave it is: 1 to 3 by requirement, 3 where the clause is not known."""
        return SEVERITY.get(self.requirement or "must", 3) if self.outcome in FAILING else 0

    @property
    def known(self) -> bool:
        """Return whether it fails as somebody said."""
        return self.expected is not None and self.expected.state == "as_expected"

    @property
    def owed(self) -> bool:
        """Return whether the case was to be judged and nothing is known of it."""
        return self.outcome in OWED

    @property
    def state(self) -> tuple[str, str | None, str | None]:
        """Return what two runs must have alike for the case to have come out alike."""
        return self.outcome, self.blame, self.expected.state if self.expected else None


class BackendOutline(msgspec.Struct, frozen=True):
    """A judged backend as the header has it."""

    name: str
    description: dict[str, str] = {}
    claims: dict[str, dict[str, list[str]]] = {}
    guarantees: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    number_model: dict[str, Any] = {}


class HeaderOutline(msgspec.Struct, frozen=True, tag_field="type", tag="header"):
    """How a log begins."""

    spec_digest: str
    reference_digest: str
    started: str
    backends: tuple[BackendOutline, ...]
    format: int = FORMAT
    suites: tuple[str, ...] = ()
    seed: int = 0
    profile: str = "default"
    examples: int = 0
    ops: tuple[str, ...] = ()
    environment: dict[str, str] = {}


class FailureOutline(msgspec.Struct, frozen=True, tag_field="type", tag="failure"):
    """One way to fail, by its smallest case."""

    backend: str
    op: str
    clause: str
    outcome: str
    case: str
    file: str = ""
    requirement: str = "must"
    detail: str = ""
    minimal: bool = False
    explains: tuple[str, ...] = ()
    known: Expectation | None = None


class SequenceOutline(msgspec.Struct, frozen=True, tag_field="type", tag="sequence"):
    """Cases that must follow each other for the last one to fail."""

    backend: str
    op: str
    clause: str
    outcome: str
    cases: tuple[str, ...]
    files: tuple[str, ...] = ()
    explains: tuple[str, ...] = ()


class FooterOutline(msgspec.Struct, frozen=True, tag_field="type", tag="footer"):
    """How a log ends."""

    finished: str
    seconds: float = 0.0
    counts: dict[str, dict[str, int]] = {}
    seconds_by_backend: dict[str, float] = {}
    undrawn: tuple[str, ...] = ()
    unrepeated: dict[str, int] = {}


class DrawnOutline(msgspec.Struct, frozen=True, tag_field="type", tag="drawn"):
    """What had been drawn; comparing asks nothing of it."""


_DECODER: Final = msgspec.json.Decoder(
    HeaderOutline | CaseOutline | FailureOutline | SequenceOutline | DrawnOutline | FooterOutline
)

Key = tuple[str, str]
"""A backend and a case."""


@dataclass(frozen=True)
class Outline:
    """A run: ``seen`` has what each case came to, the later of two records of one; ``digest`` is that of its log."""

    path: Path
    head: HeaderOutline
    seen: dict[Key, CaseOutline]
    ways: tuple[FailureOutline, ...]
    foot: FooterOutline | None
    digest: str
    sequences: tuple[SequenceOutline, ...] = ()
    entries: dict[str, BackendOutline] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return the name of the run: the time it began, and the beginning of a digest of its header."""
        text = msgspec.json.encode(self.head, order="deterministic")
        return f"{self.head.started}-{hashlib.sha256(text).hexdigest()[:12]}"

    @property
    def name(self) -> str:
        """Return the name of the run's folder."""
        return self.path.resolve().parent.name

    @cached_property
    def why_incomplete(self) -> str | None:
        """Return why the run says too little; ``None`` for a whole one."""
        if self.foot is None:
            return "the log has no footer: the run never ended"
        written: dict[Key, int] = {}
        for (backend, _), one in self.seen.items():
            written[backend, one.outcome] = written.get((backend, one.outcome), 0) + 1
        for backend, counts in self.foot.counts.items():
            for outcome, count in counts.items():
                if written.get((backend, outcome), 0) < count:
                    return f"records are missing: the footer counts {count} {outcome} of {backend}"
        if self.foot.undrawn:
            return f"the time budget was spent before all cases were drawn, those of {self.foot.undrawn[0]} among them"
        return None


def read_outline(path: Path) -> Outline:
    """Return the outline of the run in a folder (or of a log file).

    Raise ``HistoryError``, naming the line, for anything but a run log of a format up to this suite's. A last line
    that a killed run left without its end is left out.
    """
    log = path if path.is_file() else path / LOG
    try:
        with opened(log) as file:
            content = file.read(LONGEST + 1)
    except FileNotFoundError:
        raise HistoryError(f"{path} holds no {LOG}; name the folder of a run") from None
    except (OSError, EOFError, zlib.error) as error:
        raise HistoryError(f"{stored(log)} cannot be read: {error}") from None
    if len(content) > LONGEST:
        raise HistoryError(f"{stored(log)} has more than {LONGEST >> 20} MiB, unpacked where it is compressed")
    return outline_in(log, content)


def outline_in(log: Path, content: bytes) -> Outline:
    """Return the outline of the run whose ``log`` has this content; raise as ``read_outline``."""
    with _no_collections():
        return _outline(log, content)


def _outline(log: Path, content: bytes) -> Outline:
    records = _records(log, content)
    head = next(records, None)
    if not isinstance(head, HeaderOutline):
        raise HistoryError(f"{log}: a run log begins with a header line; without it start the run again")
    seen: dict[Key, CaseOutline] = {}
    others: list[FailureOutline | SequenceOutline] = []
    foot: FooterOutline | None = None
    for record in records:
        foot = record if isinstance(record, FooterOutline) else None
        if isinstance(record, CaseOutline):
            seen[record.backend, record.case] = record
        elif isinstance(record, FailureOutline | SequenceOutline):
            others.append(record)
        elif isinstance(record, HeaderOutline):
            raise HistoryError(f"{log}: holds a second header; a log is of one run, so keep each in its own folder")
    entries = {entry.name: entry for entry in head.backends}
    _check(log, seen, entries)
    return Outline(
        log,
        head,
        seen,
        tuple(one for one in others if isinstance(one, FailureOutline)),
        foot,
        hashlib.sha256(content).hexdigest(),
        tuple(one for one in others if isinstance(one, SequenceOutline)),
        entries,
    )


def _records(
    log: Path, content: bytes
) -> Iterator[HeaderOutline | CaseOutline | FailureOutline | SequenceOutline | DrawnOutline | FooterOutline]:
    """Yield what each line says; a last line without its end is left out."""
    lines = content.splitlines(keepends=True)
    decode, checked = _DECODER.decode, False
    for number, line in enumerate(lines, 1):
        if line == b"\n":
            continue
        try:
            if not checked:
                _check_format(log, line)
                checked = True
            record = decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            if number == len(lines) and not line.endswith(b"\n") and checked:
                return
            raise HistoryError(f"{log}:{number}: not a record of a run log: {error}") from None
        yield record


def _check(log: Path, seen: dict[Key, CaseOutline], entries: dict[str, BackendOutline]) -> None:
    """Raise ``HistoryError`` for a record of a backend that the header does not name, or of an unknown outcome."""
    strange = {backend for backend, _ in seen} - entries.keys()
    if strange:
        raise HistoryError(f"{log}: has records of {min(strange)!r:.80}, which its header does not name")
    words = {one.outcome for one in seen.values()} - set(OUTCOMES)
    if words:
        raise HistoryError(f"{log}: {min(words)!r:.80} is no outcome; known are {', '.join(OUTCOMES)}")


class _Form(msgspec.Struct, frozen=True):
    type: str = ""
    format: Any = FORMAT


def _check_format(log: Path, line: bytes) -> None:
    """Raise ``HistoryError`` for a log of a later format, whose fields may mean something else."""
    form = msgspec.json.decode(line, type=_Form)
    if form.type == "header" and not (isinstance(form.format, int) and 0 <= form.format <= FORMAT):
        raise HistoryError(
            f"{log}:1: the log has format {form.format!r:.40}; this version reads formats up to {FORMAT}: "
            "use the version of mesh-conformance that wrote it"
        )


@contextmanager
def _no_collections() -> Iterator[None]:
    """Keep the collector of cycles off: it would look at a million new records again and again, and none is in one."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
