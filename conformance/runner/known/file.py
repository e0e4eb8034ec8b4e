"""The file of known failures: a JSON list of entries, and their cases in the folder ``cases`` beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from conformance.backends.discovery import BackendError, find, listed
from conformance.cases.case_error import CaseError
from conformance.cases.json_text import pretty
from conformance.cases.limit import together
from conformance.cases.tensor.stored import read_document
from conformance.cases.whole_file import own_folder, write_whole
from conformance.runner.dialect import Trial
from conformance.runner.dialects import load_case, name_of, save_case, trial
from conformance.runner.meaning import NONE
from conformance.runner.records.known import MOST_RUNS, FailingOutcome, Known
from conformance.runner.records.record import case_file

RIGHT: Final = {
    "case": "the id that a log and the case file have, such as broadcast/int32-2/0123456789ab",
    "backend": "the name that -b takes",
    "clause": "the id of the clause to blame, such as broadcast.C1",
    "outcome": f"one of {', '.join(get_args(FailingOutcome))}",
    "issue": "an address that begins with https:// or http://",
    "owner": "who answers for it",
    "expiry": "the last day of the entry, such as 2027-01-31",
    "flaky": f'left out, or {{"failed": N, "of": M}} with 0 < N < M <= {MOST_RUNS}',
}
"""What every field should be."""

MOST_ENTRIES: Final = 5_000
"""Entries of a file: to read one and to know what its case means takes 5 ms and more."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")


class KnownError(ValueError):
    """A file of known failures that is not in order; the message begins with file and line."""


@dataclass(frozen=True)
class KnownCase:
    """An entry, where it and its expiry stand (``file:line``), and its stored case with its meaning."""

    entry: Known
    where: str
    expiry_where: str
    trial: Trial

    @property
    def suite(self) -> str:
        """Return the suite of the clause."""
        clauses = self.trial.dialect.clauses(self.trial.facts.op, NONE)
        return next(clause.suite for clause in clauses if clause.id == self.entry.clause)


class _Wrong(ValueError):
    """What is wrong in an entry; the field it is wrong in, or the offset in the text."""

    def __init__(self, message: str, field: str = "", at: int = 0) -> None:
        super().__init__(message)
        self.field = field
        self.at = at


def read_known(path: Path, judged: Collection[str] = ()) -> tuple[KnownCase, ...]:
    """Return the entries of the file ``path`` with their cases; ``judged`` are names of backends beside the installed.

    An expired entry is none of this function's business: the run that replays it fails. Raise ``KnownError`` for
    everything else that is not in order: malformed text, fields missing, unknown or wrong, a case that is not
    there or is another, a backend or clause that does not exist, a second entry for one case and backend, more than
    ``MOST_ENTRIES``, and cases that ask for more together than one may alone.
    """
    try:
        text = read_document(path).decode()
    except CaseError as error:
        raise KnownError(
            f"{path}: {error}; `conformance known RUN -o {path}` writes the known failures of a run"
        ) from None
    except UnicodeDecodeError as error:
        raise KnownError(f"{path}: it is not UTF-8 at byte {error.start}") from None
    with together():
        return _known(path, text, {listing.name for listing in listed()} | set(judged))


def _known(path: Path, text: str, names: Collection[str]) -> tuple[KnownCase, ...]:
    found: dict[tuple[str, str], KnownCase] = {}
    try:
        for start, end, value in _spans(text):
            try:
                entry = _entry(value)
                _check_new(entry, found.get((entry.case, entry.backend)), len(found))
                _check_backend(entry.backend, names)
                one = _trial(entry, path.parent)
                _check_clause(entry, one)
            except _Wrong as wrong:
                wrong.at = _offset(text, start, end, wrong.field)
                raise
            lines = (_line(text, start), _line(text, _offset(text, start, end, "expiry")))
            where, expiry_where = (f"{_shown(path)}:{line}" for line in lines)
            found[entry.case, entry.backend] = KnownCase(entry, where, expiry_where, one)
    except _Wrong as wrong:
        raise KnownError(f"{path}:{_line(text, wrong.at)}: {wrong}") from None
    return tuple(found.values())


def write_known(path: Path, entries: Sequence[Known], cases: Sequence[Any]) -> None:
    """Write ``entries`` to ``path`` and ``cases`` beside it; raise ``OSError`` when that cannot be."""
    own_folder(path.parent / "cases")
    for case in cases:
        save_case(case, path.parent / case_file(name_of(case)))
    write_whole(path, pretty(msgspec.to_builtins(entries)).encode())


def entry_of(value: Any) -> Known:
    """Return plain data as an entry; raise ``KnownError`` when it is none."""
    try:
        return _entry(value)
    except _Wrong as wrong:
        raise KnownError(str(wrong)) from None


def _spans(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield where each element of the list in ``text`` begins and ends, and the element."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)
    at = _skip(text, 0)
    if text[at : at + 1] != "[":
        raise _Wrong('it must be a list of entries: [{"case": ...}]', at=at)
    at = _skip(text, at + 1)
    while text[at : at + 1] != "]":
        try:
            value, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            raise _Wrong(f"it is not JSON: {error.msg}", at=error.pos) from None
        except RecursionError:
            raise _Wrong("it is nested too deeply", at=at) from None
        except ValueError as error:
            raise _Wrong(str(error), at=at) from None
        yield at, end, value
        at = _skip(text, end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
            if text[at : at + 1] == "]":
                raise _Wrong("it is not JSON: a comma before the closing bracket", at=at)
        elif text[at : at + 1] != "]":
            raise _Wrong("it is not JSON: a comma or the closing bracket is missing", at=end)
    if _skip(text, at + 1) != len(text):
        raise _Wrong("it is not JSON: there is more after the closing bracket", at=_skip(text, at + 1))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"an entry has {name!r:.80} twice")
        found[name] = value
    return found


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _entry(value: Any) -> Known:
    try:
        return msgspec.convert(value, Known)
    except UnicodeEncodeError as error:
        raise _Wrong(f"a text has half a character, {error.object[error.start]!r}") from None
    except msgspec.ValidationError as error:
        message = str(error)
        field = re.search(r"`\$\.(\w+)|field `(\w+)`", message)
        name = (field[1] or field[2]) if field else ""
        right = f"{name} should be {RIGHT[name]}" if name in RIGHT else f"the fields are {', '.join(RIGHT)}"
        raise _Wrong(f"{message.replace('$.', '')}; {right}", name) from None


def _check_backend(name: str, known: Collection[str]) -> None:
    if name not in known:
        try:
            find(name)
        except BackendError as error:
            raise _Wrong(str(error), "backend") from None


def _check_new(entry: Known, earlier: KnownCase | None, many: int) -> None:
    if many == MOST_ENTRIES:
        raise _Wrong(f"it has more than {MOST_ENTRIES} entries")
    if earlier is not None:
        told = f"{entry.case} on {entry.backend} is listed already, at {earlier.where}; remove one of the two"
        raise _Wrong(told, "case")


def _trial(entry: Known, folder: Path) -> Trial:
    """Return the stored case with its meaning; its digest is checked when it is loaded."""
    file = case_file(entry.case)
    if not folder.joinpath(file).is_file():
        told = f"unknown case {entry.case}: there is no {file} beside this file; copy it from the run that found it"
        raise _Wrong(told, "case")
    try:
        found = trial(load_case(folder / file))
    except (ValueError, OSError) as error:
        raise _Wrong(str(error), "case") from None
    if found is None:
        raise _Wrong(f"{file} is no case that anything could be asked about", "case")
    if found.name != entry.case:
        raise _Wrong(f"{file} holds {found.name}, another case than {entry.case}", "case")
    return found


def _check_clause(entry: Known, one: Trial) -> None:
    clauses = [clause.id for clause in one.dialect.clauses(one.facts.op, NONE)]
    said = one.dialect.speaking(one.subject)
    # Where only answers tell which clauses speak, each may.
    speaking = [name for name in clauses if name in said] if said else clauses
    if entry.clause not in speaking:
        told = f"unknown clause {entry.clause!r}: of this case speak {', '.join(speaking) or 'none'}"
        raise _Wrong(told, "clause")


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _offset(text: str, start: int, end: int, field: str) -> int:
    """Return where the key ``field`` of the entry stands; a quote inside of a string would be escaped."""
    found = re.compile(rf'"{re.escape(field)}"\s*:').search(text, start, end) if field else None
    return found.start() if found else start


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _shown(path: Path) -> str:
    """Return ``path`` for logs, which never name folders outside of the one that a run is made in."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.name
