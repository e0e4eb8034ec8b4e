"""Ranges of versions, ``jax==0.9.0..0.10.2``, and the versions that the package index has between."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

from packaging.version import InvalidVersion, Version

from conformance.history.error import HistoryError, UnfinishedError

_FORM: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^,\s]+?)\.\.([^,\s]+)")
_LIST: Final = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*)==([^,\s]+(?:,[^,\s]+)+)")


class Range(NamedTuple):
    """A package, and versions from the one before to the one after; ``listed`` where somebody named them all."""

    package: str
    before: str
    after: str
    listed: tuple[str, ...] = ()


def range_of(text: str) -> Range:
    """Return what ``PACKAGE==FROM..TO`` or ``PACKAGE==ONE,TWO`` says; raise ``HistoryError`` for anything else."""
    span, several = _FORM.fullmatch(text), _LIST.fullmatch(text)
    if span is not None:
        found = Range(span.group(1), span.group(2), span.group(3))
    elif several is not None:
        versions = tuple(several.group(2).split(","))
        found = Range(several.group(1), versions[0], versions[-1], versions)
    else:
        raise HistoryError(
            f"{text!r:.200} is no range of versions; write jax==0.9.0..0.10.2, or jax==0.9.0,0.9.1,0.10.2"
        )
    for version in found.listed or (found.before, found.after):
        _version(found.package, version)
    return found


def versions_of(wanted: Range) -> Sequence[str]:
    """Return the versions of a range in the order from the one before to the one after; both ends are among them.

    Raise ``UnfinishedError`` where the package index does not answer, or lacks an end.
    """
    if wanted.listed:
        return wanted.listed
    low, high = (_version(wanted.package, text) for text in (wanted.before, wanted.after))
    known = _known(wanted.package)
    between = sorted((version for version in known if min(low, high) <= version <= max(low, high)), reverse=low > high)
    between = [one for one in between if not one.is_prerelease or one in (low, high)]
    for end, text in ((low, wanted.before), (high, wanted.after)):
        if end not in between:
            raise UnfinishedError(f"the package index has no {wanted.package} {text}; it has {_some(known)}")
    return [str(version) for version in between]


def _version(package: str, text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        raise HistoryError(f"{text!r:.80} is no version of {package}") from None


def _known(package: str) -> list[Version]:
    """Return the versions that pip finds for this Python and machine."""
    ask = [sys.executable, "-m", "pip", "index", "versions", "--disable-pip-version-check", package]
    ended = subprocess.run(ask, check=False, capture_output=True, text=True, timeout=300)
    found = re.search(r"^Available versions: (.*)$", ended.stdout, re.MULTILINE)
    if ended.returncode or found is None:
        said = ended.stderr.strip().splitlines()[-1:] or ["it said nothing"]
        raise UnfinishedError(f"the package index does not say which versions of {package} there are: {said[0]}")
    return [Version(text.strip()) for text in found.group(1).split(",")]


def _some(known: Sequence[Version]) -> str:
    listed = [str(version) for version in sorted(known)[-8:]]
    return ", ".join(listed) + (f" and {len(known) - 8} older ones" if len(known) > 8 else "")
