"""Changes of the runner, judged by the tests of the suite itself, each in a copy of the clone."""

from __future__ import annotations

import ast
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import conformance
from conformance.qualification.auto.corpus import AutoMutant
from conformance.qualification.auto.outcome import Row, row_of
from conformance.qualification.auto.running.differences import Kill, Seen
from conformance.qualification.auto.source.changes import CAME, Change, changed_tree
from conformance.qualification.auto.source.shadow import source_of
from conformance.qualification.mutant_module import MutantError

TESTS: Final = (
    "tests/runner",
    "tests/faults",
    "tests/cases",
    "tests/backends/test_worker.py",
    "tests/cli",
    "tests/report",
)
"""What judges the runner, in this order, after the tests that stand where the changed module stands."""

LONGEST: Final = 1_500.0
"""Seconds that all tests of a mutant may take; unchanged they take some 400 on two busy cores."""

LEFT_OUT: Final = (
    ".git",
    ".venv",
    ".nox",
    ".tox",
    "runs",
    "dist",
    "build",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
)
"""Folders of a clone that no test needs."""

_MARK: Final = """
def {came}() -> None:
    with open({path!r}, "a"):
        pass
"""


def clone() -> Path:
    """Return the folder of the clone that this package stands in; raise ``MutantError`` where there is none."""
    root = Path(conformance.__file__).parents[1]
    if not (root / "tests" / "runner").is_dir():
        raise MutantError("--family runner: its mutants are judged by the tests of a clone, and this package has none")
    return root


def by_tests(mutants: Sequence[AutoMutant], *, jobs: int = 0) -> Iterator[Row]:
    """Yield the row of each mutant as it ends; at first raise ``MutantError`` where unchanged code does not pass.

    A mutant dies when a test fails that fails on it a second time and passes on the unchanged code.
    """
    root = clone()
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        waiting = [pool.submit(_row, root, mutant) for mutant in mutants]
        try:
            for each in as_completed(waiting):
                yield each.result()
        finally:
            for each in waiting:
                each.cancel()


def _row(root: Path, mutant: AutoMutant) -> Row:
    change = mutant.made
    assert isinstance(change, Change)
    with _copy(root, change) as (folder, mark):
        ended, failed = _pytest(folder, _in_order(root, change))
        came = mark.exists() or not change.below
        if ended == "passed":
            return row_of(mutant, "survived" if came else "not_reached", Seen(cases=1))
        if ended == "failed" and failed:
            again, _ = _pytest(folder, (failed,))
            with _copy(root, None) as (plain, _):
                control, _ = _pytest(plain, (failed,))
            if again == "passed" or control != "passed":
                reason = f"{failed} failed once" if again == "passed" else f"{failed} fails on the unchanged code, too"
                return row_of(mutant, "void", Seen(cases=1), reason=reason)
    kill = Kill("tests", change.module, 0, failed or ended, "must")
    return row_of(mutant, "killed", Seen(kills=(kill,), cases=1))


def _in_order(root: Path, change: Change) -> tuple[str, ...]:
    """Return the tests, those of the folder that mirrors the changed module's first."""
    parts = change.module.split(".")[1:]
    near = ["/".join(("tests", *parts[:-1], f"test_{parts[-1]}.py"))]
    near += ["/".join(("tests", *parts[:at])) for at in range(len(parts) - 1, 1, -1)]
    found = [each for each in near if (root / each).exists()]
    return tuple(dict.fromkeys((*found, *TESTS)))


def _pytest(folder: Path, tests: Sequence[str]) -> tuple[str, str]:
    """Return how a run of tests in a copy ended, and the name of the test that failed first."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-rfE", "--tb=no", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(folder), "TMPDIR": str(folder.parent / "tmp")}
    (folder.parent / "tmp").mkdir(exist_ok=True)
    running = subprocess.Popen(
        command, cwd=folder, env=environment, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        told, _ = running.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        return f"no end within {LONGEST:g} s", ""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    words = [line.split() for line in told.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    failed = words[0][1] if words else ""
    if running.returncode == 0:
        return "passed", ""
    return ("failed" if running.returncode == 1 else f"pytest ended with {running.returncode}"), failed


@contextmanager
def _copy(root: Path, change: Change | None) -> Iterator[tuple[Path, Path]]:
    """Make a copy of the clone with a change in it; yield its folder, and the file that is there once it is come to."""
    with tempfile.TemporaryDirectory(prefix="conformance-mutant-", ignore_cleanup_errors=True) as name:
        folder, mark = Path(name) / "clone", Path(name) / "came"
        shutil.copytree(root, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        if change is not None:
            path = folder / Path(*change.module.split(".")).with_suffix(".py")
            path = path if path.exists() else path.with_suffix("") / "__init__.py"
            tree = changed_tree(source_of(change.module), change)
            at = next((at for at, each in enumerate(tree.body) if not _leads(each)), len(tree.body))
            tree.body[at:at] = ast.parse(_MARK.format(came=CAME, path=str(mark))).body
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
        yield folder, mark


def _leads(statement: ast.stmt) -> bool:
    """Return whether a statement has to stand first: the docstring of a module, and what is imported of the future."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
