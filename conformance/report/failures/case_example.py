"""A case of any dialect made readable, also from its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from conformance.cases.case import Case
from conformance.cases.case_error import CaseError
from conformance.cases.graph.case import GraphCase
from conformance.cases.schedule.question import ScheduleCase
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.whole_file import read_whole
from conformance.report.failures.example import Example
from conformance.report.failures.graph_example import of_graph, of_listed_graph, of_sharded
from conformance.report.failures.program_example import CARRIED, of_program
from conformance.report.failures.typed_example import of_typed
from conformance.runner.dialects import load_case, name_of


def read_example(directory: Path, file: str, wanted: str) -> Example:
    """Return the case with id ``wanted`` that ``file``, relative to the run's ``directory``, should hold."""
    path = inside(directory, file)
    if path is None:
        return Example(problem=f"the log names the case file {file!r}, which is not inside the run")
    try:
        case = load_case(path)
    except (ValueError, OSError) as error:
        return Example(problem=f"the case file {file}: {_one_line(error).removeprefix(f'case file {path}: ')}")
    if name_of(case) != wanted:
        return Example(problem=f"the case file {file} holds {name_of(case)}, the log says {wanted}")
    shown = example(case)
    if isinstance(case, Case) or path.with_suffix(".safetensors").exists():
        return shown
    try:
        return msgspec.structs.replace(shown, source=read_whole(path, CARRIED).decode())
    except (CaseError, UnicodeDecodeError):  # too large to be carried
        return shown


def example(case: Any) -> Example:
    """Return ``case`` of any dialect made readable; of a program also its file as text, unless it is large."""
    if isinstance(case, Case):
        return of_program(case)
    if isinstance(case, ScheduleCase):
        asked = case.of
        shown = of_program(asked) if isinstance(asked, Case) else of_listed_graph(asked)
        return msgspec.structs.replace(shown, dialect="schedule", expected=(), source=None)
    if isinstance(case, ShardedCase):
        return of_sharded(case)
    return of_graph(case) if isinstance(case, GraphCase) else of_typed(case)


def inside(directory: Path, file: str) -> Path | None:
    """Return the path of ``file`` when it really lies inside ``directory``."""
    try:
        root = directory.resolve()
        path = (root / file).resolve()
    except (ValueError, OSError, RuntimeError):  # a NUL, half a character, a loop of links
        return None
    return path if path.is_relative_to(root) and path != root else None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:400]
