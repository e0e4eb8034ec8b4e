"""What is wrong with what a person gave: a key, a product, a bundle; one line, and the exit status."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from conformance.cases.case_error import CaseError
from conformance.cases.whole_file import read_whole

LONGEST: Final = 1 << 20
"""Bytes of a file that people write: a product, a key, a list of keys."""


class CertificateError(ValueError):
    """What is wrong, where, and what would be right, in one line; ``status`` is 2, or 3 for what was not checked."""

    def __init__(self, message: str, status: int = 2) -> None:
        """Say ``message``."""
        super().__init__(message)
        self.status = status


def file_content(path: Path, most: int = LONGEST) -> bytes:
    """Return what is in a file; raise ``CertificateError`` where it is none, or has more than ``most`` bytes."""
    try:
        return read_whole(path, most)
    except CaseError as error:
        raise CertificateError(f"{path}: {error}") from None


def holds(path: Path, content: bytes) -> bool:
    """Return whether a path is a file of its own with this content; no more of it is read than that has bytes."""
    there = not path.is_symlink() and path.is_file() and path.stat().st_size == len(content)
    return there and file_content(path, len(content)) == content
