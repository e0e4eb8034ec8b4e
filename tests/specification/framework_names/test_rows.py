"""Every row of the table of names that says *equal* or *otherwise* is run on the framework, and found so."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from conformance.runner.dialects import further_clauses
from conformance.specification.framework_names import FRAMEWORKS, NAMES
from conformance.specs import OPS, every_clause
from tests.specification.framework_names.rows import ANYTHING_ELSE, Row, Rows, spread
from tests.specification.framework_names.tinygrad_rows import COMPILED

ROOT = Path(__file__).parents[3]
MODULES = "tests.specification.framework_names"

NEEDS = {
    "jax": "jax", "torch": "torch", "dtensor": "torch", "tinygrad": "tinygrad", "mpi": "mpi4py", "mlx": "mlx",
    "stablehlo": "jax",
}  # fmt: skip
"""What has to be installed for the rows of a framework."""

RUN = [name for name in NAMES if name.relation in {"equal", "otherwise"}]


PROCESSES = {"torch": "torch_ranks", "dtensor": "torch_ranks", "jax": "jax_devices", "mpi": "mpi_ranks"}
"""The modules that are run, where they are not those that have the rows."""


def rows_of(framework: str) -> Rows:
    found = getattr(import_module(f"{MODULES}.{module_of(framework)}"), f"{framework}_rows")
    assert isinstance(found, Rows)
    return found


def module_of(framework: str) -> str:
    return PROCESSES.get(framework, f"{framework}_rows")


@cache
def observed(module: str) -> dict[str, list[dict[str, str]]]:
    """Return, by framework, what every rank gave for every row, from one start of the framework."""
    command = [sys.executable, "-m", f"{MODULES}.{module}"]
    if module == "mpi_ranks":
        command = [str(Path(sys.executable).with_name("mpiexec")), "-n", "4", *command]
    more = {
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "DEV": "CPU" if shutil.which("clang") else "PYTHON",
    }
    with TemporaryDirectory() as folder:
        subprocess.run(
            [*command, folder], cwd=ROOT, env=os.environ | more, check=False, timeout=1200, capture_output=True
        )
        files = {name: sorted(Path(folder).glob(f"{name}[0-9].json")) for name in NEEDS}
        return {name: [json.loads(file.read_text()) for file in found] for name, found in files.items()}


@pytest.mark.parametrize("framework", NEEDS)
def test_rows_that_compare_are_the_rows_that_are_run(framework: str) -> None:
    said = {name.key: name.relation == "otherwise" for name in RUN if name.framework == framework}
    assert said == {key: row.theirs is not None for key, row in rows_of(framework).rows.items()}


@pytest.mark.parametrize("framework", NEEDS)
def test_names_mean_what_their_rows_say(framework: str) -> None:
    if find_spec(NEEDS[framework]) is None:
        pytest.skip(f"{framework} is not installed")
    rows, seen = rows_of(framework).rows, observed(module_of(framework))[framework]
    assert seen, "the framework did not end well"
    if framework == "tinygrad" and not shutil.which("clang"):
        rows = {key: row for key, row in rows.items() if key not in COMPILED}
    wrong = {key: found for key, row in rows.items() if (found := unlike(row, [each[key] for each in seen]))}
    assert not wrong


def unlike(row: Row, seen: list[str]) -> str:
    """Return what a row gave where that is not what it says, else nothing; one refusal is as good as another."""
    ours = spread(row.ours(), len(seen))
    alike = [a == b or (a.startswith("raises") and b.startswith("rejected")) for a, b in zip(seen, ours, strict=True)]
    known = row.theirs == [ANYTHING_ELSE] or (row.theirs is not None and seen == spread(row.theirs, len(seen)))
    holds = all(alike) if row.theirs is None else known and not all(alike)
    return "" if holds else f"gave {seen}; our form gives {ours}; otherwise is {row.theirs}"


def test_rows_name_clauses_and_operations_that_exist() -> None:
    known = {**every_clause(), **further_clauses()}
    assert {clause for name in NAMES for clause in name.clauses} <= set(known)
    assert len({(name.framework, name.key, name.relation == "says nothing") for name in NAMES}) == len(NAMES)
    assert {name.framework for name in NAMES} == set(FRAMEWORKS)
    assert all(name.ours or name.relation == "says nothing" for name in NAMES)
    assert all(name.difference for name in NAMES if name.relation not in {"equal", "equal, not run"})


def test_every_alias_of_an_operation_is_a_name() -> None:
    named = {name.name.rpartition(".")[2] for name in NAMES}
    assert {
        alias.rpartition(".")[2] for op in OPS.values() for known in op.aliases.values() for alias in known
    } <= named
