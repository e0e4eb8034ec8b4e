"""The data of the pages, in files that a page from disk can load: ``conformanceData("name", value);``."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, Final

from conformance.history.site.overview import Overview
from conformance.history.site.trends import Trend
from conformance.report.formats.badge import file_stems

LISTED: Final = 200
"""Failing cases of a cell that are listed; a cell with more has more of the same kind."""

SHARDS: Final = 256
"""Files that cases are spread over, by the first two digits of the digest in their ids: of 100,000 cases 30 KB each."""

Files = Iterator[tuple[str, Any]]


def script(name: str, value: Any) -> str:
    """Return a data file: no ``<`` stands in it, and neither of the separators that older scripts end a line at."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")
    return f"conformanceData({json.dumps(name)},{text});\n"


def data_files(connection: sqlite3.Connection, made: Overview, told: list[Trend]) -> Files:
    """Yield name and value of every data file."""
    yield "runs", _runs(made)
    yield "trends", [one._asdict() for one in told]
    stems = dict(zip(made.by_backend, file_stems(list(made.by_backend)), strict=True))
    failing = _failing(connection, made)
    for backend, several in made.by_backend.items():
        yield f"backends/{stems[backend]}", _backend(made, backend, several, failing.get(backend, {}))
    yield from _cases(connection, made)
    yield from _texts(connection)


def _runs(made: Overview) -> list[dict[str, Any]]:
    names: dict[int, list[str]] = {}
    for one in made.judged:
        names.setdefault(one.run, []).append(one.backend)
    return [
        {
            "id": one.id, "folder": one.folder, "started": one.started, "specification": one.specification,
            "reference": one.reference, "suites": one.suites, "seed": one.seed, "profile": one.profile,
            "examples": one.examples, "incomplete": one.incomplete, "machine": one.machine,
            "environment": one.environment, "backends": sorted(names.get(one.run, ())),
        }
        for one in made.runs
    ]  # fmt: skip


def _backend(made: Overview, backend: str, several: Any, failing: Mapping[str, list[Any]]) -> dict[str, Any]:
    """Return a backend over time: what it said of itself, and each operation's counts, run by run."""
    cells: dict[str, list[list[Any]]] = {}
    for one in several:
        for op, cell in made.cells.get((one.run, backend), {}).items():
            cells.setdefault(op, []).append([made.place[one.run], *cell])
    return {
        "backend": backend,
        "runs": [
            {
                "run": made.place[one.run], "verdict": one.verdict, "title": one.title, "held": one.held,
                "total": one.total, "description": one.description, "declared": one.declared, "claims": one.claims,
            }
            for one in several
        ],
        "cells": cells,
        "failing": failing,
        "findings": [
            {
                "op": one.op, "clause": one.clause, "outcome": one.outcome, "requirement": one.requirement,
                "known": one.known, "first": made.place[one.first.run], "last": made.place[one.last.run],
                "runs": one.runs, "case": one.case, "detail": one.detail, "open": one.open,
            }
            for one in made.found
            if one.backend == backend
        ],
    }  # fmt: skip


def _failing(connection: sqlite3.Connection, made: Overview) -> dict[str, dict[str, list[Any]]]:
    """Return the cases that fail in the last run of each backend, by operation: id, clause, since which run."""
    found: dict[str, dict[str, list[Any]]] = {}
    for backend, one in made.today.items():
        rows = connection.execute(
            "SELECT c.op, c.name, i.clause, i.outcome, i.first_run FROM intervals i JOIN cases c USING (number) JOIN "
            "series s USING (series) WHERE s.backend = ? AND i.last_run = ? AND i.outcome NOT IN ('passed', "
            "'unsupported', 'not_run', 'adapter_error', 'flaky') ORDER BY c.op, c.name",
            (backend, one.run),
        )
        mine = found[backend] = {}
        for op, name, clause, outcome, first in rows:
            listed = mine.setdefault(op, [])
            if len(listed) < LISTED:
                listed.append([name, clause, outcome, made.place[first]])
    return found


def _cases(connection: sqlite3.Connection, made: Overview) -> Files:
    """Yield every case with its intervals, in shards; what stands there more often stands once, in a list."""
    shards: list[dict[str, Any]] = [{"states": {}, "series": {}, "cases": {}} for _ in range(SHARDS)]
    place = made.place
    rows = connection.execute(
        "SELECT c.name, c.op, c.suite, c.dtype, c.world, c.origin, s.backend, s.plan, i.outcome, i.clause, "
        "i.requirement, i.expected, i.detail, i.first_run, i.last_run FROM intervals i JOIN cases c USING (number) "
        "JOIN series s USING (series)"
    )
    for (
        name,
        op,
        suite,
        dtype,
        world,
        origin,
        backend,
        plan,
        outcome,
        clause,
        requirement,
        expected,
        detail,
        first,
        last,
    ) in rows:
        shard = shards[shard_of(name)]
        states, series, cases = shard["states"], shard["series"], shard["cases"]
        state = states.setdefault((outcome, clause, requirement, expected), len(states))
        of = series.setdefault((backend, plan), len(series))
        case = cases.get(name)
        if case is None:
            case = cases[name] = [op, suite, dtype, world, origin, []]
        interval = [of, state, place[first], place[last]]
        case[-1].append([*interval, detail] if detail else interval)
    for number, shard in enumerate(shards):
        lists = {key: list(shard[key]) for key in ("states", "series")}
        yield f"cases/{number:02x}", {**lists, "cases": shard["cases"]}


def shard_of(name: str) -> int:
    """Return which shard has a case: by the first two digits of the digest at the end of its id."""
    try:
        return int(name.rpartition("/")[2][:2], 16) % SHARDS
    except ValueError:
        return 0


def _texts(connection: sqlite3.Connection) -> Files:
    """Yield what is stored of cases: the case file, and scripts by backend."""
    shards: dict[int, dict[str, dict[str, Any]]] = {}
    for name, kind, backend, text in connection.execute("SELECT name, kind, backend, text FROM texts ORDER BY name"):
        one = shards.setdefault(shard_of(name), {}).setdefault(name, {"case": None, "scripts": {}})
        if kind == "case":
            one["case"] = text
        else:
            one["scripts"][backend] = text
    for number in range(SHARDS):
        yield f"texts/{number:02x}", shards.get(number, {})
