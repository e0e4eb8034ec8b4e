"""What is published: the wheel has the package with its data and nothing else, the sdist what the wheel is made of."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = {".py", ".js", ".css", ".j2", ".json", ".txt", ".typed"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel and the sdist, made by the build backend that ``pyproject.toml`` names."""
    folder = tmp_path_factory.mktemp("built")
    install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(folder / "backend"), "hatchling>=1.27"]
    subprocess.run(install, check=True, capture_output=True)
    where = {**os.environ, "PYTHONPATH": str(folder / "backend")}
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    subprocess.run(build, check=True, capture_output=True, cwd=ROOT, env=where)
    return folder


def tracked(*folders: str) -> set[str]:
    """Return the files that are kept under version control."""
    told = subprocess.run(["git", "ls-files", *folders], check=True, capture_output=True, text=True, cwd=ROOT)
    return set(told.stdout.splitlines())


@pytest.mark.slow
def test_the_wheel_has_the_package_and_nothing_else(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = {name for name in names if not name.partition("/")[0].endswith(".dist-info")}
    assert inside == tracked("conformance")
    assert {Path(name).suffix for name in inside} <= DATA
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert wheel.stat().st_size < 8 << 20


@pytest.mark.slow
def test_the_sdist_has_what_the_wheel_and_the_tests_are_made_of(built: Path) -> None:
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert tracked("conformance", "tests", "docs", "expectations") <= names
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "noxfile.py", "constraints.txt"} <= names
    assert not {name for name in names if name.split("/")[0] in (".venv", "runs", ".git")}
