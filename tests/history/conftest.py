"""Runs of a small backend, and logs with something changed on purpose."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.backends.base import Backend
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.runner.explore import explore
from conformance.runner.log.backend_sources import SOURCES
from conformance.runner.plan import Plan
from conformance.runner.worker.in_process import InProcess

Lines = list[dict[str, Any]]
Edit = Callable[[Lines], Lines]


def in_process(backend: Backend) -> InProcess:
    return InProcess(BackendSpec(name="it", command=()), backend=backend)


def run_of(backend: Backend, folder: Path, examples: int = 20, **plan: Any) -> Path:
    """Judge ``backend`` under the name ``it``, and return the folder of the run."""
    asked = Plan(ops=("broadcast",), examples=examples, suites=("collectives",), **plan)
    explore(asked, {"it": in_process(backend)}, folder)
    return folder


def lines_of(folder: Path) -> Lines:
    return [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]


def write(lines: Lines, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.jsonl").write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return folder


def header(**changes: Any) -> Edit:
    return lambda lines: [{**lines[0], **changes}, *lines[1:]]


def environment(**changes: Any) -> Edit:
    def edit(lines: Lines) -> Lines:
        has = {**lines[0]["environment"], **changes}
        return header(environment={name: value for name, value in has.items() if value is not None})(lines)

    return edit


def entry(**changes: Any) -> Edit:
    return lambda lines: header(backends=[{**lines[0]["backends"][0], **changes}])(lines)


def described(**changes: str) -> Edit:
    return lambda lines: entry(description={**lines[0]["backends"][0]["description"], **changes})(lines)


def passed(lines: Lines) -> str:
    """Return the id of a case that passed, and is not the plainest draw."""
    good = (line for line in lines if line["type"] == "case" and line["outcome"] == "passed")
    return next(line["case"] for line in good if not line["origin"].endswith("/0"))


def record(changes: dict[str, Any] | None, case: str | None = None) -> Edit:
    """Change the record of a case, the first that passed by default; ``None`` takes it away."""

    def edit(lines: Lines) -> Lines:
        name = case or passed(lines)
        kept = [line for line in lines if line.get("case") != name]
        if changes is None:
            return kept
        found = next(line for line in lines if line.get("case") == name)
        return [*kept[:-1], {**found, **changes}, kept[-1]]

    return edit


def failing(observation: str | None = "f" * 64, clause: str = "collective.C2", **more: Any) -> Edit:
    """Make the first case that passed a failure of another observation; ``None`` leaves the observation as it was."""
    seen = {} if observation is None else {"observation": observation}
    said = {"outcome": "failed", "blame": clause, "requirement": "must", "detail": "rank 0: 1, expected 2"}
    return record({**said, **seen, **more})


def footer(**changes: Any) -> Edit:
    return lambda lines: [*lines[:-1], {**lines[-1], "counts": {}, **changes}]


def edited(lines: Lines, *edits: Edit) -> Lines:
    for edit in edits:
        lines = edit(lines)
    return footer()(lines) if lines[-1]["type"] == "footer" else lines


@pytest.fixture(scope="session", autouse=True)
def files_of_it() -> Iterator[None]:
    """Give ``it``, which is in no file that anybody finds, a digest of one."""
    with pytest.MonkeyPatch.context() as patched:
        for module in ("conformance.runner.log.header", "conformance.history.causes.laboratory"):
            patched.setattr(f"{module}.backend_sources", lambda names: {f"{SOURCES}{name}": "0" for name in names})
        yield


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """Return the log of a run of the reference."""
    return lines_of(run_of(Reference(), tmp_path_factory.mktemp("base")))
