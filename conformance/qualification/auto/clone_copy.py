"""Copies of the clone that this package stands in, with changed modules, and the tests run in one."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import conformance
from conformance.qualification.auto.chosen_tests import CHOSEN, NOTES
from conformance.qualification.mutant_module import MutantError

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


def clone() -> Path:
    """Return the folder of the clone that this package stands in; raise ``MutantError`` where there is none."""
    root = Path(conformance.__file__).parents[1]
    if not (root / "tests" / "runner").is_dir():
        raise MutantError("--family runner: its mutants are judged by the tests of a clone, and this package has none")
    return root


@contextmanager
def copied(root: Path, changed: Mapping[str, tuple[ast.Module, str]], notes: Path | None = None) -> Iterator[Path]:
    """Make a copy of a clone in which modules have other trees, each led by lines of source; yield the copy.

    ``{notes}`` in these lines is the folder of notes: ``notes``, or one beside the copy, called ``notes``.
    """
    with tempfile.TemporaryDirectory(prefix="conformance-mutant-", ignore_cleanup_errors=True) as name:
        folder, beside = Path(name) / "clone", notes or Path(name) / "notes"
        beside.mkdir(exist_ok=True)
        (Path(name) / "tmp").mkdir()
        shutil.copytree(root, folder, ignore=shutil.ignore_patterns(*LEFT_OUT), symlinks=True)
        for module, (tree, lines) in changed.items():
            path = folder / Path(*module.split(".")).with_suffix(".py")
            path = path if path.exists() else path.with_suffix("") / "__init__.py"
            at = next((at for at, each in enumerate(tree.body) if not _leads(each)), len(tree.body))
            tree.body[at:at] = ast.parse(lines.replace("{notes}", repr(str(beside)))).body
            path.write_text(ast.unparse(ast.fix_missing_locations(tree)), encoding="utf-8")
        yield folder


def tested(folder: Path, tests: Sequence[str], *words: str, chosen: Sequence[str], seconds: float) -> tuple[str, str]:
    """Run tests in a copy; return how it ended, and the name of the test that failed first.

    Of the files or folders ``tests`` only what is ``chosen`` is run, in that order, if anything is.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-rfE", "--tb=no", "-p", "no:cacheprovider"]
    command += ["-p", "conformance.qualification.auto.chosen_tests", *words, *tests]
    environment = {**os.environ, "PYTHONPATH": str(folder), "TMPDIR": str(folder.parent / "tmp")}
    environment[NOTES] = str(folder.parent / "notes")
    if chosen:
        listed = folder.parent / "chosen.json"
        listed.write_text(json.dumps(list(chosen)), encoding="utf-8")
        environment[CHOSEN] = str(listed)
    running = subprocess.Popen(
        command, cwd=folder, env=environment, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        told, _ = running.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        return f"no end within {seconds:g} s", ""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    failed = [_named(line) for line in told.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if running.returncode == 0:
        return "passed", ""
    return ("failed" if running.returncode == 1 else f"pytest ended with {running.returncode}"), (*failed, "")[0]


def _named(line: str) -> str:
    """Return the name of a test out of a line of pytest's summary; a name may have spaces, and a reason follows it."""
    return line.partition(" ")[2].partition(" - ")[0].strip()


def _leads(statement: ast.stmt) -> bool:
    """Return whether a statement has to stand first: the docstring of a module, and what is imported of the future."""
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
