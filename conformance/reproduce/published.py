"""The scripts of a report: one for the smallest case of each finding, written and run again all together."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from conformance.backends.base import Backend
from conformance.backends.discovery import find, load
from conformance.cases.escapes import printable
from conformance.cases.whole_file import own_folder, write_whole
from conformance.report.error import ReportError, content
from conformance.report.failures.findings import Finding, script_of
from conformance.report.formats.json import parse_json
from conformance.report.write import JSON
from conformance.reproduce.write import ScriptError, reproduction
from conformance.runner.dialects import load_case
from conformance.runner.replay import replay
from conformance.runner.worker.interface import Judgeable

Told = tuple[str, str]
"""What a finding is, by its backend and case, and what came of its script."""


def findings_of(folder: Path, backends: Sequence[str]) -> tuple[Finding, ...]:
    """Return the findings of the report in ``folder``, of ``backends`` alone where some are named.

    Raise ``ReportError`` where there is no report, none that can be read, or one that names a file outside its folder.
    """
    found = parse_json(content(folder / JSON)).findings
    wanted = tuple(one for one in found if not one.sequence and (not backends or one.backend in backends))
    for one in wanted:
        for name in filter(None, (one.file, one.script)):
            _check_within(folder, name)
    return wanted


def _check_within(folder: Path, name: str) -> None:
    """Raise ``ReportError`` for the name of a file that is not one in ``folder``, links followed."""
    try:
        within = (folder / name).resolve().is_relative_to(folder.resolve())
    except (ValueError, OSError, RuntimeError):  # a NUL, a name that is too long, a circle of links
        within = False
    if not within or not name.isprintable():
        raise ReportError(f"{folder / JSON}: {printable(name)!r} is no file of the report; its files lie in its folder")


def write_scripts(folder: Path, found: Sequence[Finding], open_worker: Callable[[str], Judgeable]) -> Iterator[Told]:
    """Write the script of every finding into ``folder`` and yield what came of it.

    ``open_worker`` returns the worker of a backend by name.
    """
    made: dict[str, Backend] = {}
    for one in found:
        backend = made.setdefault(one.backend, load(find(one.backend)))
        case = load_case(folder / one.file)
        try:
            text = reproduction(case, backend, replay(case, open_worker(one.backend)))
        except ScriptError as error:
            yield _name(one), str(error)
            continue
        path = folder / script_of(one)
        own_folder(path.parent)
        write_whole(path, text.encode())
        yield _name(one), str(path)


def run_scripts(folder: Path, found: Sequence[Finding]) -> Iterator[tuple[Told, bool]]:
    """Run the script of every finding that has one, and yield what it said, and whether it still shows its bug."""
    for one in found:
        path = folder / (one.script or script_of(one))
        if path.is_file():
            done = subprocess.run([sys.executable, path], capture_output=True, text=True, errors="replace", check=False)
            last = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1:]
            yield (_name(one), f"{path.name}: {''.join(last)} (exit status {done.returncode})"), done.returncode == 1


def _name(one: Finding) -> str:
    return f"{one.backend} {one.case}"
