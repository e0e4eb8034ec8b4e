"""The rows of a qualification as they come, in a file, so that one that was ended goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from conformance.cases.case_error import CaseError
from conformance.cases.tensor.stored import read_document
from conformance.qualification.mutant_module import MutantError
from conformance.runner.log.environment import digests

R = TypeVar("R", bound=msgspec.Struct)

WRITTEN: Final = "qualify.jsonl"
AUTO: Final = "auto.jsonl"
"""The files of written mutants and of automatic ones."""


class Head(msgspec.Struct, frozen=True, tag_field="type", tag="head"):
    """What was asked, and of which specification; rows of another are no use."""

    mutants: str
    seed: int
    examples: int
    suites: tuple[str, ...]
    ops: tuple[str, ...]
    spec: str = ""


def head(mutants: str, seed: int, examples: int, suites: tuple[str, ...], ops: tuple[str, ...]) -> Head:
    """Return the head of a qualification by this specification."""
    return Head(mutants, seed, examples, suites, ops, "-".join(part[:16] for part in digests()))


class Rows(Generic[R]):
    """The rows of one part of a qualification, some of them ``known``; without a folder they are kept nowhere."""

    def __init__(self, folder: Path | None, wanted: Head, file: str, known: tuple[R, ...] = ()) -> None:
        """Take the rows that are known; nothing is written."""
        self.known = known
        self._folder, self._wanted, self._file = folder, wanted, file

    def begin(self) -> None:
        """Write the head and the rows that are known."""
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            lines = [msgspec.json.encode(each) for each in (self._wanted, *self.known)]
            (self._folder / self._file).write_bytes(b"".join(line + b"\n" for line in lines))

    def write(self, row: R) -> None:
        """Add a row."""
        if self._folder is not None:
            with (self._folder / self._file).open("ab") as file:
                file.write(msgspec.json.encode(row) + b"\n")


def rows_of(folder: Path | None, wanted: Head, kind: type[R], file: str, *, resume: bool) -> Rows[R]:
    """Return the rows of a folder, with those that are there; nothing is written.

    Raise ``MutantError`` where there are some and ``resume`` is false, or they are of another qualification.
    """
    if folder is None or not (path := folder / file).exists():
        return Rows(folder, wanted, file)
    if not resume:
        raise MutantError(f"{path} exists: choose another folder with -o, or go on with --resume")
    had, rows = rows_in(folder, kind, file)
    if had != wanted:
        differing = next(name for name in Head.__struct_fields__ if getattr(had, name) != getattr(wanted, name))
        raise MutantError(f"{path} is of another qualification: its {differing} differ; choose another folder with -o")
    return Rows(folder, wanted, file, rows)


def rows_in(folder: Path, kind: type[R], file: str) -> tuple[Head, tuple[R, ...]]:
    """Return the head and the rows of a file; raise ``MutantError`` where it is none."""
    path = folder / file
    try:
        # The last line may be half written.
        whole = [line for line in read_document(path).splitlines(keepends=True) if line.endswith(b"\n")]
        had = msgspec.json.decode(whole[0], type=Head)
        return had, tuple(msgspec.json.decode(line, type=kind) for line in whole[1:])
    except (CaseError, IndexError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MutantError(f"{path} is no qualification: {error}") from error
