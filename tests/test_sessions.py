"""nox is authoritative, tox thin, and the two do the same."""

from __future__ import annotations

import re
from configparser import ConfigParser
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]


@dataclass
class Recorded:
    """Stands where nox puts its session, and notes what is asked of it."""

    posargs: tuple[str, ...] = ("{posargs}",)
    installs: list[tuple[str, ...]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def install(self, *arguments: str) -> None:
        self.installs.append(arguments)

    def run(self, *arguments: str) -> None:
        self.commands.append(" ".join(arguments))

    @property
    def extras(self) -> set[str]:
        found = [re.fullmatch(r"\.\[(.*)\]", word) for words in self.installs for word in words]
        return {extra for match in found if match for extra in match.group(1).split(",")}

    @property
    def packages(self) -> set[str]:
        words = {word for words in self.installs for word in words if not word.startswith(("-", "."))}
        return words - {"constraints.txt"}


@pytest.fixture(scope="module")
def noxfile() -> ModuleType:
    pytest.importorskip("nox", reason="the sessions are compared where nox is installed")
    module = ModuleType("noxfile")
    exec(compile((ROOT / "noxfile.py").read_text(), "noxfile.py", "exec"), vars(module))
    return module


@pytest.fixture(scope="module")
def sessions(noxfile: ModuleType) -> dict[str, Recorded]:
    """Return what every nox session does, by name."""
    import nox.registry

    found: dict[str, Recorded] = {}
    for name, function in nox.registry.get().items():
        for options in [{"backend": backend} for backend in noxfile.BACKENDS] if name == "conformance" else [{}]:
            recorded = found["-".join([name, *options.values()])] = Recorded()
            function.func(recorded, **options)
    return found


@pytest.fixture(scope="module")
def tox() -> ConfigParser:
    parser = ConfigParser(interpolation=None)
    parser.read(ROOT / "tox.ini")
    return parser


def words(text: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", text) if word]


def test_nox_and_tox_have_the_same_sessions(sessions: dict[str, Any], tox: ConfigParser) -> None:
    assert {section.removeprefix("testenv:") for section in tox.sections() if ":" in section} == set(sessions)


def test_nox_and_tox_run_the_same_by_default(noxfile: ModuleType, tox: ConfigParser) -> None:
    assert words(tox["tox"]["env_list"]) == noxfile.nox.options.sessions


NAMES = [
    "tests",
    "conformance-opencl",
    "conformance-jax",
    "conformance-torch",
    "conformance-mpi",
    "conformance-tinygrad",
    "oclgrind",
    "report",
    "lint",
    "typecheck",
    "bench",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_session_runs_the_same_commands(sessions: dict[str, Recorded], tox: ConfigParser, name: str) -> None:
    commands = tox[f"testenv:{name}"]["commands"].strip().splitlines()
    assert [command.strip() for command in commands] == sessions[name].commands


@pytest.mark.parametrize("name", NAMES)
def test_a_session_installs_the_same(sessions: dict[str, Recorded], tox: ConfigParser, name: str) -> None:
    section = tox[f"testenv:{name}"]
    assert set(words(section.get("extras", ""))) == sessions[name].extras
    groups = {"lint": {"ruff"}, "typecheck": {"mypy", "types-psutil"}}.get(section.get("dependency_groups", ""), set())
    installed = {re.split("[=<>~]", package)[0] for package in sessions[name].packages}
    assert installed == set(words(section.get("deps", ""))) | groups


def test_every_session_installs_pinned_versions(sessions: dict[str, Recorded], tox: ConfigParser) -> None:
    assert all("constraints.txt" in words for one in sessions.values() for words in one.installs)
    assert "constraints.txt" in tox["testenv"]["setenv"]


def test_continuous_integration_runs_the_line_of_the_manual() -> None:
    line = re.search(r"^(python3 -m venv .*pytest)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert line is not None
    assert line.group(1) in (ROOT / ".ci" / "run").read_text()
