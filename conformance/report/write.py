"""Writing every form of a report, and nothing over what is not the report's own."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from conformance.cases.whole_file import own_folder, write_whole
from conformance.report.error import ReportError, content
from conformance.report.failures.findings import script_of
from conformance.report.formats.badge import badge, badge_names
from conformance.report.formats.ctrf import as_ctrf
from conformance.report.formats.html import as_html
from conformance.report.formats.json import as_json, parse_json
from conformance.report.formats.junit import as_junit
from conformance.report.formats.markdown import as_markdown
from conformance.report.summary import MARK, Report
from conformance.runner.dialects import load_case, name_of

PAGE: Final = "index.html"
JSON: Final = "report.json"
MARKDOWN: Final = "report.md"
JUNIT: Final = "junit.xml"
CTRF: Final = "ctrf.json"

DOCUMENTS: Final = "docs/"
"""Where a checkout has the specification."""

_HEAD: Final = 1024
"""Bytes at the beginning of a file among which a report's mark stands."""


def write_all(report: Report, out_dir: Path) -> tuple[Path, ...]:
    """Write the page, JSON, Markdown, JUnit, CTRF, badges and failing cases into ``out_dir``; return what was written.

    Raise ``ReportError``, before anything is written, when a file of that name is not a report's own, and ``OSError``
    when the folder of cases leads elsewhere.
    """
    folder, report = shown_folder(out_dir), _with_scripts(report, out_dir)
    files = {
        out_dir / PAGE: as_html(report, folder, _documents(folder)),
        out_dir / JSON: as_json(report),
        out_dir / MARKDOWN: as_markdown(report, folder),
        out_dir / JUNIT: as_junit(report),
        out_dir / CTRF: as_ctrf(report),
    }
    for name, backend in zip(badge_names(report.backends), report.backends, strict=True):
        files[out_dir / name] = badge(backend)
    cases = {
        out_dir / bucket.file: bucket.example.source
        for bucket in report.buckets
        if bucket.file and bucket.example.source is not None and not _holds(out_dir / bucket.file, bucket.case)
    }
    earlier = _earlier_cases(out_dir)
    for path, text in {**files, **cases}.items():
        if path not in earlier:
            _check_own(path, text)
    for folder_of in {path.parent for path in cases}:
        own_folder(folder_of)
    for path, text in {**files, **cases}.items():
        _put(path, text)
    return (*files, *cases)


def foreign(out_dir: Path) -> tuple[Path, ...]:
    """Return what has a name of a report's file in ``out_dir`` and is none that a report wrote."""
    named = (*(out_dir / name for name in (PAGE, JSON, MARKDOWN, JUNIT, CTRF)), *sorted(out_dir.glob("badge-*.svg")))
    return tuple(path for path in named if os.path.lexists(path) and not _is_own(path))


def _is_own(path: Path) -> bool:
    try:
        _check_own(path, "")
    except ReportError:
        return False
    return path.is_file()


def _documents(folder: str) -> str:
    """Return the way from a report's folder to the documents of the specification, where they lie beside it."""
    there = folder and (Path.cwd() / DOCUMENTS / "specification.md").is_file()
    return "../" * folder.count("/") + DOCUMENTS if there else ""


def _with_scripts(report: Report, out_dir: Path) -> Report:
    """Return the report, its findings with the scripts that lie in ``out_dir``."""
    linked = []
    for one in report.findings:
        there = [script for script in (script_of(one), one.script) if script and (out_dir / script).is_file()]
        linked.append(replace(one, script=there[0] if there else None))
    return replace(report, findings=tuple(linked))


def shown_folder(out_dir: Path) -> str:
    """Return ``out_dir`` for replay commands: from where the report is made, never naming folders outside it."""
    relative = os.path.relpath(out_dir.resolve(), Path.cwd())
    if relative == "." or relative.startswith(".."):
        return ""
    return Path(relative).as_posix() + "/"


def _earlier_cases(out_dir: Path) -> frozenset[Path]:
    """Return the case files that the report lying in ``out_dir`` wrote; they are its own."""
    if not (out_dir / JSON).is_file():
        return frozenset()
    try:
        earlier = parse_json(content(out_dir / JSON))
    except ReportError:
        return frozenset()
    return frozenset(out_dir / bucket.file for bucket in earlier.buckets if bucket.file)


def _holds(path: Path, case: str) -> bool:
    """Return whether the case lies there already, as it does when a report is made in the folder of its run."""
    try:
        return path.exists() and name_of(load_case(path)) == case
    except (ValueError, OSError):
        return False


def _check_own(path: Path, text: str) -> None:
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise ReportError(f"cannot write {path}: it is no regular file; move it, or choose another folder with -o")
        wanted = text.encode()
        with path.open("rb") as file:
            there = file.read(max(_HEAD, len(wanted)) + 1)
    except FileNotFoundError:
        return
    except OSError as error:
        raise ReportError(f"cannot write {path}: {error.strerror}") from None
    if MARK.encode() not in there[:_HEAD] and there != wanted:
        raise ReportError(f"{path} was not written by a report; move it, or choose another folder with -o")


def _put(path: Path, text: str) -> None:
    """Write whole or not at all: a reader, or a second report, never sees half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        raise ReportError(f"cannot write {path}: {error.strerror}") from None
