"""``conformance run --jobs N``: slices judged by whole runs in processes of their own, and joined."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from conformance.cli.problems import Problem
from conformance.runner.log.reading import LogError
from conformance.runner.plan import Plan
from conformance.runner.slices.handed import VARIABLE, Handed, Receiver
from conformance.runner.slices.note import plan_digest, read_note

LONG: Final = 0.1
"""Seconds between looks at the processes."""

CHANGED: Final = 1
"""What a slice ends with whose log somebody changed before its end."""

FOLDER: Final = "slices"
"""Where the slices of a run lie, in its folder."""


def run_slices(
    plan: Plan, names: Sequence[str], directory: Path, jobs: int, *, resume: bool, tell: Callable[[str], None]
) -> dict[Path, Handed | None]:
    """Judge every slice of a plan, ``jobs`` processes at a time, and return them by folder, as they were handed over.

    A slice that is there and whole is not judged again where ``resume`` says so, and nobody hands it over.
    Raise ``Problem`` where a slice does not come to its end.
    """
    folders = [directory / FOLDER / f"{at}-of-{jobs}" for at in range(1, jobs + 1)]
    started: list[tuple[Path, subprocess.Popen[bytes]]] = []
    receivers: dict[Path, Receiver] = {}
    try:
        for at, folder in enumerate(folders, 1):
            if resume and _whole(folder, plan):
                continue
            _clear(folder, resume=resume)
            folder.mkdir(parents=True, exist_ok=True)
            ask = _command(replace(plan, slice=(at, jobs)), names, folder)
            receiver = receivers[folder] = Receiver()
            with (folder / "said.txt").open("wb") as said:
                process = subprocess.Popen(
                    ask, stdout=said, stderr=said, stdin=subprocess.DEVNULL, pass_fds=(receiver.write,),
                    env=os.environ | {VARIABLE: str(receiver.write)},
                )  # fmt: skip
            receiver.started()
            started.append((folder, process))
        left = list(started)
        while left:
            time.sleep(LONG)
            left = [one for one in left if one[1].poll() is None]
            tell(f"{jobs - len(left)} of {jobs} slices are judged")
    finally:
        for _, process in started:
            if process.poll() is None:
                process.terminate()
            process.wait()
    for where, process in started:
        if process.returncode not in (0, CHANGED):
            said_last = (where / "said.txt").read_text(errors="replace").strip().splitlines()[-1:] or [
                "it said nothing"
            ]
            raise Problem(f"{where} did not come to its end ({process.returncode}): {said_last[0]}", 3)
    handed: dict[Path, Handed | None] = dict.fromkeys(folders)
    for where, process in started:
        one = receivers[where].received(str(where))
        # What lies there now its process wrote again, and says that somebody had changed it.
        handed[where] = replace(one, digest="") if process.returncode == CHANGED else one
    return handed


def _whole(folder: Path, plan: Plan) -> bool:
    try:
        return read_note(folder).plan == plan_digest(plan)
    except LogError:
        return False


def _clear(folder: Path, *, resume: bool) -> None:
    """Make room for a slice: what a killed run left is no slice, and is taken away where it goes on."""
    if resume:
        for name in ("run.jsonl", "run.jsonl.gz", "slice.json"):
            (folder / name).unlink(missing_ok=True)


def _command(plan: Plan, names: Sequence[str], folder: Path) -> list[str]:
    assert plan.slice is not None
    at, of = plan.slice
    return [
        sys.executable, "-m", "conformance", "run", "-b", ",".join(names), "--suite", ",".join(plan.suites),
        "--op", ",".join(plan.ops), "--profile", plan.profile, "--seed", str(plan.seed),
        *([] if plan.decked else ["--examples", str(plan.examples)]),
        "--case-limit", f"{plan.case_limit:g}s", "--slice", f"{at}/{of}", "-o", str(folder),
        *(["--sandbox"] if plan.sandbox else []),
    ]  # fmt: skip
