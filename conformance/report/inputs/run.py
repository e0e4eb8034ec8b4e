"""Reading a run directory: its log, whole or cut short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.report.error import ReportError
from conformance.runner.log.header import SLICE
from conformance.runner.log.reading import LogError, read
from conformance.runner.log.storage import LOG, stored
from conformance.runner.records.record import CaseRecord, DrawnParts, Failure, Footer, Header, Record, SequenceFailure

__all__ = ["LOG", "Run", "read_run", "run_of"]


@dataclass(frozen=True)
class Run:
    """A run as its log tells it; ``why_incomplete`` is ``None`` only when nothing is missing.

    ``read`` says that its records come out of a file, and not out of the memory of the process that judged. It
    ``ended_early`` where what is missing is what it did not come to: another run may have that.
    """

    directory: Path
    header: Header
    records: tuple[CaseRecord, ...]
    failures: tuple[Failure, ...]
    footer: Footer | None
    why_incomplete: str | None
    sequences: tuple[SequenceFailure, ...] = ()
    ended_early: bool = False
    drawn: DrawnParts | None = None
    read: bool = False

    @property
    def name(self) -> str:
        """Return the name of the directory: a published report never names the folders above it."""
        return self.directory.resolve().name


def read_run(directory: Path) -> Run:
    """Return the run in ``directory`` (or the log file itself).

    A last line without its end is what a killed run leaves: it is dropped and the run is incomplete. Raise
    ``ReportError`` naming the line for anything else that is no record.
    """
    path = directory if directory.is_file() else directory / LOG
    try:
        records = read(path)
        whole = _ends(path)
    except FileNotFoundError:
        raise ReportError(f"{directory} holds no {LOG}; `conformance run -o {directory}` writes one") from None
    except OSError as error:
        raise ReportError(f"{path} cannot be read: {error.strerror}") from None
    except LogError as error:
        raise ReportError(str(error)) from None
    return replace(run_of(path.parent, records, whole=whole), read=True)


def _ends(path: Path) -> bool:
    """Return whether the last line of a file has its end."""
    where = stored(path)
    if where != path:  # a compressed log is one whose run has ended
        return True
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 1))
        return file.read() == b"\n"


def run_of(directory: Path, records: Iterable[Record], *, whole: bool = True) -> Run:
    """Return the run in ``directory`` whose log has ``records``; ``whole`` says that its last line has its end.

    Of two records of one case and backend the later one holds. Raise ``ReportError`` when the header is none.
    """
    path, records = directory / LOG, tuple(records)
    header = _header(path, records)
    footer = records[-1] if isinstance(records[-1], Footer) else None
    last = {(r.backend, r.case): r for r in records if isinstance(r, CaseRecord)}
    cases = tuple(last.values())
    failures = tuple(record for record in records if isinstance(record, Failure))
    sequences = tuple(record for record in records if isinstance(record, SequenceFailure))
    drawn = next((record for record in reversed(records) if isinstance(record, DrawnParts)), None)
    early = _why_early(footer, whole=whole)
    why = _why_part(header) or _why_incomplete(cases, footer) or early
    return Run(directory, header, cases, failures, footer, why, sequences, why is early is not None, drawn)


def _header(path: Path, records: Sequence[Record]) -> Header:
    headers = [record for record in records if isinstance(record, Header)]
    if len(headers) > 1:
        raise ReportError(f"{path}: holds {len(headers)} headers; a log is of one run, so keep each in its own folder")
    return headers[0]


def _why_part(header: Header) -> str | None:
    """Return of which run this is a part, if it is one: it drew its part, and looked for no smallest case."""
    part = header.environment.get(SLICE)
    return None if part is None else f"it is slice {part:.40} of a run; `conformance merge` joins all of them"


def _why_early(footer: Footer | None, *, whole: bool) -> str | None:
    """Return why a run did not come to all that it was to draw."""
    if footer is None:
        return f"the log has no footer{'' if whole else ' and breaks off inside a line'}: the run never ended"
    if not footer.undrawn:
        return None
    first, more = footer.undrawn[0], len(footer.undrawn) - 1
    others = f" and {more} more" if more else ""
    return f"the time budget was spent before all cases were drawn, those of {first}{others}"


def _why_incomplete(records: Sequence[CaseRecord], footer: Footer | None) -> str | None:
    """Return what is missing of what the run came to."""
    if footer is None:
        return None
    if not records and not footer.undrawn:
        return "the log has no case"
    written = Counter((record.backend, record.outcome) for record in records)
    for backend, counts in footer.counts.items():
        for outcome, count in counts.items():
            have = sum(n for key, n in written.items() if key == (backend, outcome))
            if have < count:
                return f"records are missing: the footer counts {count} {outcome} of {backend}, the log has {have}"
    return _why_not_whole(footer)


def _why_not_whole(footer: Footer) -> str | None:
    """Return what the run itself says is missing from it."""
    once = sum(footer.unrepeated.values())
    if footer.differing:
        told = f"{footer.differing} of {footer.asked_again} records of an earlier run"
        return f"{told} came out otherwise when asked again"
    if once:
        cases = f"{once} case{'' if once == 1 else 's'}"
        return f"{cases} failed once after others and passed alone, and no sequence makes that happen again"
    for name, came in footer.companies.items():
        if came.only or came.hidden:
            return f"{name} does in company what it does not do alone, as in {(*came.only, *came.hidden)[0]}"
    return None
