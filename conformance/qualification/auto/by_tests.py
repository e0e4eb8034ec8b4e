"""Changes of the runner, judged by the tests of the suite itself, each in a copy of the clone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final

import msgspec

from conformance.qualification.auto.clone_copy import clone, copied, tested
from conformance.qualification.auto.corpus import AutoMutant
from conformance.qualification.auto.equivalent_survivors import read_reasons
from conformance.qualification.auto.outcome import Fate, Row, row_of
from conformance.qualification.auto.running.differences import Kill, Seen
from conformance.qualification.auto.source.changes import CAME, Change, changed_tree
from conformance.qualification.auto.source.shadow import source_of
from conformance.qualification.auto.tests_survey import Survey, survey

TESTS: Final = (
    ("tests/runner", "tests/cases", "tests/backends/test_worker.py"),
    ("tests/faults", "tests/report", "tests/cli"),
)
"""What judges the runner: its own tests, and those of whole commands for what these let live, some five times as slow.

Of each those run that come to a change, the nearest and the quickest first.
"""

LONGEST: Final = 1_500.0
"""Seconds that all tests of a mutant may take; unchanged they take some 400 on two busy cores."""

NEAREST: Final = 240.0
"""Seconds that tests near the changed module may take. For what these let live those that come to it are looked for."""

UNSTEADY: Final = 3
"""Tests that fail once on a mutant, or on the unchanged code too, and are left out before it is given up."""

_QUIET: Final = f"""
def {CAME}():
    pass
"""


def by_tests(mutants: Sequence[AutoMutant], *, jobs: int = 0) -> Iterator[Row]:
    """Yield the row of each mutant as it ends: first of those that die by tests near the changed module.

    For the others all tests run once, to see which come to which change. A mutant dies when a test fails that fails on
    it a second time and passes on the unchanged code. Tests that fail on the unchanged code judge nothing. Raise
    ``MutantError`` where this package stands in no clone.
    """
    root, jobs = clone(), jobs or os.cpu_count() or 1
    dead: set[str] = set()
    for row in _by_the_nearest(root, mutants, jobs):
        dead.add(row.name)
        yield row
    left: Sequence[AutoMutant] = [mutant for mutant in mutants if mutant.name not in dead]
    before: dict[str, Row] = {}
    for at, tests in enumerate(TESTS, 1):
        for row in _judged(root, left, tests, jobs):
            if row.fate == "killed" or at == len(TESTS):
                yield _joined(before.get(row.name), row)
            else:
                before[row.name] = _joined(before.get(row.name), row)
        left = [mutant for mutant in left if mutant.name in before]


def _by_the_nearest(root: Path, mutants: Sequence[AutoMutant], jobs: int) -> Iterator[Row]:
    """Yield the row of each mutant that dies by the files of tests that import its module, or mirror it."""
    files = _test_files(root)
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(_near_row, root, mutant, near_files(_change(mutant), files)) for mutant in mutants]
        try:
            for each in as_completed(waiting):
                if (row := each.result()) is not None:
                    yield row
        finally:
            for each in waiting:
                each.cancel()


def _test_files(root: Path) -> dict[str, str]:
    """Return the text of each file of tests that may judge, by its path in the clone."""
    found = (root / each for tests in TESTS for each in tests)
    every = (file for each in found for file in ([each] if each.is_file() else each.rglob("test_*.py")))
    return {str(file.relative_to(root)): file.read_text(encoding="utf-8") for file in every}


def near_files(change: Change, files: Mapping[str, str]) -> tuple[str, ...]:
    """Return the tests that import the changed module, the shortest first, and those in the folder that mirrors it."""
    mirror, *above = _near(change)
    found = [name for name, text in files.items() if name == mirror or f"{change.module} import" in text]
    beside = [name for name in files if name.startswith(f"{above[0]}/") and name not in found]
    order = sorted(found, key=lambda name: (name != mirror, len(files[name])))
    return (*order, *sorted(beside, key=lambda name: len(files[name])))


def _near_row(root: Path, mutant: AutoMutant, files: Sequence[str]) -> Row | None:
    """Return the row of a mutant that dies by these files; ``None`` for one that lives, or takes too long."""
    change = _change(mutant)
    if not files:
        return None
    with copied(root, {change.module: (changed_tree(source_of(change.module), change), _QUIET)}) as folder:
        ended, failed = tested(folder, files, "-x", chosen=(), seconds=NEAREST)
        if ended != "failed" or not failed or _run(folder, (failed,))[0] == "passed":
            return None
    with copied(root, {}) as plain:
        if _run(plain, (failed,))[0] != "passed":
            return None
    kill = Kill("tests", change.module, 0, failed, "must")
    return row_of(mutant, "killed", Seen(kills=(kill,), cases=1), reach=1)


def _judged(root: Path, mutants: Sequence[AutoMutant], tests: Sequence[str], jobs: int) -> Iterator[Row]:
    """Yield the row of each mutant by some of the tests."""
    if not mutants:
        return
    seen = survey(root, [_change(mutant) for mutant in mutants], tests, jobs)
    reasons = read_reasons()
    with ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(_row, root, mutant, seen, reasons.get(mutant.digest)) for mutant in mutants]
        try:
            for each in as_completed(waiting):
                yield each.result()
        finally:
            for each in waiting:
                each.cancel()


def _joined(first: Row | None, then: Row) -> Row:
    """Return the row of a mutant that was judged by some tests and then by others: what says most of it holds."""
    if first is None:
        return then
    best = min(then, first, key=lambda row: _SAYING.index(row.fate))
    return msgspec.structs.replace(best, cases=first.cases + then.cases, reach=first.reach + then.reach)


_SAYING: Final = ("killed", "equivalent", "survived", "void", "not_reached")


def _change(mutant: AutoMutant) -> Change:
    assert isinstance(mutant.made, Change)
    return mutant.made


def _row(root: Path, mutant: AutoMutant, seen: Survey, equivalent: str | None) -> Row:
    change = _change(mutant)
    order = seen.order(change, _near(change))
    if not order:
        return row_of(mutant, "not_reached", Seen(cases=len(seen.seconds)))
    told = Seen(cases=len(order))
    reason = ""
    with copied(root, {change.module: (changed_tree(source_of(change.module), change), _QUIET)}) as folder:
        for _ in range(UNSTEADY):
            ended, failed = _run(folder, order)
            if ended == "passed":
                fate: Fate = "survived" if equivalent is None else "equivalent"
                return row_of(mutant, fate, told, reach=len(order), reason=equivalent or "")
            if ended != "failed" or not failed:
                break  # it hangs, or nothing can be imported
            if _run(folder, (failed,))[0] == "passed":
                reason = f"{failed} failed once"
            else:
                with copied(root, {}) as plain:
                    if _run(plain, (failed,))[0] == "passed":
                        break
                reason = f"{failed} fails on the unchanged code, too"
            order = tuple(each for each in order if each != failed)
        else:
            return row_of(mutant, "void", told, reach=len(order), reason=reason)
    kill = Kill("tests", change.module, 0, failed or ended, "must")
    return row_of(mutant, "killed", Seen(kills=(kill,), cases=told.cases), reach=told.cases)


def _run(folder: Path, order: Sequence[str]) -> tuple[str, str]:
    files = tuple(dict.fromkeys(each.partition("::")[0] for each in order))
    return tested(folder, files, "-x", chosen=order, seconds=LONGEST)


def _near(change: Change) -> tuple[str, ...]:
    """Return where tests of the changed module would stand: in the file that mirrors it, and in the folders above."""
    parts = change.module.split(".")[1:]
    above = ("/".join(("tests", *parts[:at])) for at in range(len(parts) - 1, 0, -1))
    return ("/".join(("tests", *parts[:-1], f"test_{parts[-1]}.py")), *above)
