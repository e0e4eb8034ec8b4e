"""The version that makes a case come out otherwise is found, and what cannot be tried is skipped and told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.history.error import HistoryError, UnfinishedError
from conformance.history.versions.bisection import TriedVersions, bisected, ddmin
from conformance.history.versions.environments import suite
from conformance.history.versions.ranges import Range, range_of, versions_of
from tests.history.conftest import Lines, passed, write

SIX = tuple(f"1.{minor}" for minor in range(6))


@pytest.mark.parametrize("first", range(1, 6))
def test_the_step_is_found_wherever_it_is_with_few_tries(first: int) -> None:
    found = bisected(
        {"a": SIX}, lambda versions: TriedVersions("failed" if int(versions["a"][2:]) >= first else "passed")
    )
    (step,) = found.steps
    assert (step.last, step.first, step.before, step.after) == (SIX[first - 1], SIX[first], "passed", "failed")
    assert len(found.tried) <= 5


@pytest.mark.parametrize("untried", [{2}, {3}, {1, 2, 3, 4}, {2, 4}])
def test_versions_that_do_not_install_are_skipped_and_told(untried: set[int]) -> None:
    def test(versions: Mapping[str, str]) -> TriedVersions:
        number = int(versions["a"][2:])
        if number in untried:
            raise UnfinishedError(f"a {number} does not install")
        return TriedVersions("failed" if number >= 3 else "passed")

    (step,) = bisected({"a": SIX}, test).steps
    assert {int(one[2:]) for one in step.untried} == untried & set(range(int(step.last[2:]) + 1, int(step.first[2:])))
    assert int(step.last[2:]) < 3 <= int(step.first[2:])


def test_of_several_packages_only_those_that_decide_are_told() -> None:
    ranges = {"a": SIX, "b": SIX, "c": SIX, "d": SIX}

    def test(versions: Mapping[str, str]) -> TriedVersions:
        return TriedVersions("failed" if versions["b"] >= "1.4" and versions["d"] >= "1.2" else "passed")

    assert {step.package: step.first for step in bisected(ranges, test).steps} == {"b": "1.4", "d": "1.2"}


@pytest.mark.parametrize("needed", [{0}, {3}, {0, 7}, {1, 2, 5}, set(range(8))])
def test_ddmin_leaves_what_is_needed_and_nothing_else(needed: set[int]) -> None:
    items = [str(number) for number in range(8)]
    assert {int(one) for one in ddmin(items, lambda some: needed <= {int(one) for one in some})} == needed


@pytest.mark.parametrize(
    ("outcomes", "says"),
    [
        (("passed", "passed"), "comes to passed with the first versions and with the last"),
        (("not_run", "passed"), "not judged with the first"),
        (("passed", "adapter_error"), "not judged with the last"),
    ],
)
def test_ends_that_are_alike_or_unknown_find_nothing(outcomes: tuple[str, str], says: str) -> None:
    told = {"1.0": outcomes[0], "1.5": outcomes[1]}

    def test(versions: Mapping[str, str]) -> TriedVersions:
        return TriedVersions(told[versions["a"]], known=told[versions["a"]] == "passed")

    with pytest.raises(UnfinishedError, match=says):
        bisected({"a": SIX}, test)


def test_a_range_names_a_package_and_two_versions_or_more() -> None:
    assert range_of("jax==0.9.0..0.10.2") == Range("jax", "0.9.0", "0.10.2")
    assert versions_of(range_of("jax==0.9,0.9.1,0.10")) == ("0.9", "0.9.1", "0.10")


@pytest.mark.parametrize("text", ["", "jax", "jax==1", "jax==..", "jax==1..", "jax==a..b", "jax>=1..2", "-e==1..2"])
def test_anything_else_is_one_line(text: str) -> None:
    with pytest.raises(HistoryError, match=r"no range of versions|no version of"):
        range_of(text)


def test_a_file_that_is_no_case_here_makes_no_environment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case, kept = tmp_path / "case.json", tmp_path / "environments"
    case.write_text('{"format": 1, "program": {"steps": [{"op": "broadkast"}]}}')
    ask = ["bisect", str(case), "-b", "reference", "--package", "numpy==1.0..2.0", "--environments", str(kept)]
    assert (main(ask), kept.exists()) == (2, False)
    assert str(case) in capsys.readouterr().err


BACKEND = """
from importlib.metadata import version
from conformance.backends.reference import Reference

class Wobble(Reference):
    def describe(self):
        return {"wobble": version("wobble")}

    def broadcast(self, blocks, *, root, groups):
        right = super().__getattr__("broadcast")(blocks, root=root, groups=groups)
        return [one[None] for one in right] if version("wobble") >= "1.3" else right
"""


def wheel(folder: Path, version: str, requires: str = "") -> None:
    """Write the wheel of a package that has nothing but its version."""
    meta = f"Metadata-Version: 2.1\nName: wobble\nVersion: {version}\n{requires}"
    with zipfile.ZipFile(folder / f"wobble-{version}-py3-none-any.whl", "w") as file:
        info = f"wobble-{version}.dist-info"
        file.writestr("wobble.py", "")
        file.writestr(f"{info}/METADATA", meta)
        file.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        file.writestr(f"{info}/RECORD", f"wobble.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")


@pytest.mark.slow
def test_a_version_of_a_package_is_found_in_environments_of_their_own(base: Lines, tmp_path: Path) -> None:
    for version in SIX:
        wheel(tmp_path, version, "Requires-Dist: no-such-package-at-all-1\n" if version == "1.2" else "")
    (tmp_path / "wobbling.py").write_text(BACKEND)
    header = {**base[0], "backends": [{**base[0]["backends"][0], "name": "wobbling:Wobble"}]}
    lines = [header, *({**line, "backend": "wobbling:Wobble"} for line in base[1:-1])]
    run = write(lines, tmp_path / "run")
    where = {"PYTHONPATH": str(tmp_path), "PIP_FIND_LINKS": str(tmp_path)}
    ask = [sys.executable, "-m", "conformance", "bisect", "--run", run, "--case", passed(base), "-b", "wobbling:Wobble"]
    ask += ["--package", "wobble==1.0..1.5", "--environments", tmp_path / "environments", "--json"]
    ended = subprocess.run(
        list(map(str, ask)), check=False, capture_output=True, text=True, env={**os.environ, **where}, cwd=tmp_path
    )
    assert ended.returncode == 0, ended.stderr
    (step,) = json.loads(ended.stdout)["steps"]
    assert (step["last"], step["first"], step["untried"]) == ("1.1", "1.3", ["1.2"])
    assert "failed" in step["after"]


def test_the_suite_is_installed_as_it_is_here() -> None:
    assert suite()[-1].startswith(("/", "mesh-conformance=="))
