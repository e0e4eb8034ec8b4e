"""The one way a report says that it cannot be made."""

from __future__ import annotations

from pathlib import Path

from conformance.cases.case_error import CaseError
from conformance.cases.tensor.stored import LONGEST_DOCUMENT
from conformance.cases.whole_file import read_whole


class ReportError(ValueError):
    """An input or the output folder is unusable; the message is one line that says what, where and what to do."""


def content(path: Path, most: int = LONGEST_DOCUMENT) -> bytes:
    """Return what is in an input file of at most ``most`` bytes.

    Raise ``ReportError`` where it is none that can be read to its end.
    """
    if path.exists() and not path.is_file():
        raise ReportError(f"{path} is no regular file; name a file of JSON")
    try:
        return read_whole(path, most)
    except CaseError as error:
        raise ReportError(f"{path}: {error}") from None
