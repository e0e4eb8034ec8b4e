"""JSON documents that have a format: read whole or refused in one line, written whole or not at all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.json_text import pretty
from conformance.cases.tensor.stored import read_document
from conformance.cases.whole_file import write_whole


class Formatted(Protocol):
    """What a document is read as: it says in which version of its form it was written."""

    @property
    def format(self) -> int:
        """Return the version."""


F = TypeVar("F", bound=Formatted)
T = TypeVar("T")


class _Envelope(msgspec.Struct):
    format: int


def write(content: object, path: Path) -> None:
    """Write plain data as a document that is whole or not there; raise ``OSError`` when that cannot be."""
    write_whole(path, pretty(content).encode())


def loaded(path: Path, kind: type[F], number: int, restored: Callable[[F, Path], T]) -> T:
    """Return what ``restored`` makes of the case file ``path``, which has format ``number``, and of its folder.

    Raise ``CaseError``, one line that names the file, for anything but a sound one.
    """
    try:
        return restored(decoded(read_document(path), kind, number), path.parent)
    except CaseError as error:
        raise CaseError(f"case file {path}: {error}") from None


def decoded(content: bytes, kind: type[F], *formats: int) -> F:
    """Return a document; raise ``CaseError``, one line, for anything but JSON of one of these ``formats``.

    A key that an object has twice is refused: readers differ in which of its values they take.
    """
    try:
        document = msgspec.json.decode(content, type=kind)
        check_keys(content)
    except msgspec.ValidationError as error:
        check_format(_format_of(content), *formats)
        raise CaseError(str(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CaseError(f"it is not JSON: {error}") from None
    except RecursionError:
        raise CaseError("it is nested too deeply") from None
    check_format(document.format, *formats)
    return document


def check_format(found: int | None, *formats: int) -> None:
    """Raise ``CaseError`` for a document that says it has another format; one that says none has another fault."""
    if found is not None and found not in formats:
        read = f"formats {' and '.join(map(str, formats))}" if len(formats) > 1 else f"format {formats[0]}"
        raise CaseError(f"it has format {found}; this suite reads {'the ' if len(formats) > 1 else ''}{read}")


def check_id(said: str, found: str) -> None:
    """Raise ``CaseError`` where a document does not have the id of its content."""
    if said != found:
        raise CaseError(f"its id is {said!r:.200} but its content has the id {found!r}")


def check_keys(content: bytes) -> None:
    """Raise ``CaseError`` for JSON in which an object has a key twice."""
    # Numbers stay text: Python reads none of more than 4,300 digits, and nobody asks for them here.
    json.loads(content, object_pairs_hook=_each_once, parse_int=str, parse_float=str)


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        many = Counter(name for name, _ in pairs)
        twice = next(name for name in many if many[name] > 1)
        raise CaseError(f"it has the key {twice!r:.80} twice in one object")
    return found


def _format_of(content: bytes) -> int | None:
    try:
        return msgspec.json.decode(content, type=_Envelope).format
    except (msgspec.DecodeError, RecursionError):
        return None
