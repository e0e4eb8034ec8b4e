"""A case of the dialect of schedules: the program or the graph whose schedule is asked for, and its file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from conformance.cases.case import FORMAT, Case, case_id
from conformance.cases.case_error import CaseError
from conformance.cases.codec import CaseFile, document, restored
from conformance.cases.document import check_id, loaded, write
from conformance.cases.graph.graph import LEAVES, Graph
from conformance.cases.graph.validate import check_count
from conformance.cases.graph.value_bytes import graph_values
from conformance.cases.graph.work import graph_work
from conformance.cases.tensor.footprint import check_values
from conformance.cases.work import check_work

NAME: Final = "schedule"
"""What a case file says to be of this dialect."""

WORDS: Final = 8
"""Different operations of a graph that its id names, the first of them; a chain may have thousands."""


class ScheduleCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a schedule is asked for: an ``spmd`` program with its inputs, or a graph."""

    of: Case | Graph


class ScheduleCaseFile(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """The file of such a case, which has a ``program``, as in a file of its own, or a ``graph``."""

    format: int
    dialect: str
    id: Annotated[str, Meta(pattern="^schedule[+].+/.+/[0-9a-f]{12}$")]
    program: CaseFile | None = None
    graph: Graph | None = None


def schedule_id(case: ScheduleCase) -> str:
    """Return the id: ``schedule+`` and that of the program, or the operations, dtypes, devices and digest of the graph.

    For example ``schedule+all_gather/float32-4/0123456789ab``.
    """
    return f"{NAME}+{case_id(case.of) if isinstance(case.of, Case) else _graph_id(case.of)}"


def _graph_id(graph: Graph) -> str:
    computed = [node for node in graph.nodes if node.op not in LEAVES]
    ops = list(dict.fromkeys(str(node.arg) if node.op == "alu" else node.op for node in computed))
    words = "+".join(ops[:WORDS]) or "nothing"
    dtypes = "+".join(sorted({node.dtype for node in graph.nodes})) or "none"
    digest = hashlib.sha256(msgspec.json.encode((FORMAT, graph), order="deterministic")).hexdigest()[:12]
    return f"{words}/{dtypes}-{len({node.device for node in graph.nodes})}/{digest}"


def save_question(case: ScheduleCase, path: Path) -> None:
    """Write ``case`` to ``path``, large tensors to a file beside it; raise ``OSError`` when that cannot be."""
    whole = ScheduleCaseFile(
        format=FORMAT,
        dialect=NAME,
        id=schedule_id(case),
        program=document(case.of, path) if isinstance(case.of, Case) else None,
        graph=case.of if isinstance(case.of, Graph) else None,
    )
    write(msgspec.to_builtins(whole, order="deterministic"), path)


def load_question(path: Path) -> ScheduleCase:
    """Return the case in the file ``path``; raise ``CaseError``, one line, for anything but a sound file of one."""
    return loaded(path, ScheduleCaseFile, FORMAT, _restored)


def _restored(whole: ScheduleCaseFile, folder: Path) -> ScheduleCase:
    if (whole.program is None) == (whole.graph is None):
        raise CaseError("it asks for the schedule of a program or of a graph: exactly one of the two")
    asked = restored(whole.program, folder) if whole.program is not None else whole.graph
    assert asked is not None
    if isinstance(asked, Graph):
        check_count(asked)
        check_values(graph_values(asked))
        check_work(graph_work(asked))
    case = ScheduleCase(of=asked)
    check_id(whole.id, schedule_id(case))
    return case
