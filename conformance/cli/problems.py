"""What a person can mend, told from what is a bug of the suite."""

from __future__ import annotations

import errno
from typing import Final

import click

from conformance.backends.discovery import BackendError
from conformance.cases.codec import CaseError
from conformance.certificate.error import CertificateError
from conformance.history.error import HistoryError, UnfinishedError
from conformance.qualification.mutant_module import MutantError
from conformance.report.error import ReportError
from conformance.reproduce.write import ScriptError
from conformance.runner.known.file import KnownError
from conformance.runner.log.reading import LogError
from conformance.runner.slices.note import MissingSliceError
from conformance.runner.worker.answers import StartError
from conformance.vector_files.error import VectorsError
from conformance.vectors.deck_error import DeckError

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""The disk is full, or broken: nothing that was asked for is wrong."""

_WRONG: Final = (
    BackendError, CaseError, HistoryError, KnownError, LogError, MutantError, ReportError, ScriptError,
    VectorsError,
)  # fmt: skip
"""What is wrong with what was given; the message says what would be right."""


class Problem(click.ClickException):
    """One line that says what is wrong and how to mend it, and the exit status it ends with."""

    def __init__(self, message: str, status: int = 2) -> None:
        """Complain in ``message`` and end with ``status``: 2 usage error, 3 incomplete."""
        super().__init__(message)
        self.status = status


def problem(error: Exception) -> Problem | None:  # noqa: PLR0911 - a return for each kind
    """Return ``error`` as a line for a person, or ``None`` when it is a bug of the suite."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, _WRONG):
        return Problem(str(error), 3 if isinstance(error, UnfinishedError | MissingSliceError) else 2)
    if isinstance(error, CertificateError):
        return Problem(str(error), error.status)
    if isinstance(error, StartError | DeckError):
        told = "; `conformance doctor` says what is missing" if isinstance(error, StartError) else ""
        return Problem(f"{error}{told}", 3)
    if isinstance(error, OSError) and error.errno in _FULL:
        where = error.filename or "standard output"
        told = f"cannot write {where}: {error.strerror}; make room, and `conformance run --resume -o DIR` goes on"
        return Problem(told, 3)
    if isinstance(error, OSError) and error.filename is not None:
        return Problem(f"{error.filename}: {error.strerror}; choose another path or mend its permissions")
    return None
