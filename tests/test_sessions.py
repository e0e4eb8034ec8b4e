"""nox is authoritative, tox thin, and the two do the same."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from configparser import ConfigParser
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pytest

from conformance.backends.opencl.settings import ALGORITHMS, ALL, FORCE, OPTIMISATIONS, WITHOUT

ROOT = Path(__file__).parents[1]


@dataclass
class Recorded:
    """Stands where nox puts its session, and notes what is asked of it."""

    posargs: tuple[str, ...] = ("{posargs}",)
    installs: list[tuple[str, ...]] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)

    def install(self, *arguments: str) -> None:
        self.installs.append(arguments)

    def run(self, *arguments: str, env: Mapping[str, str] = MappingProxyType({}), external: bool = False) -> None:
        self.commands.append(" ".join(arguments))
        self.env.update(env)

    @property
    def extras(self) -> set[str]:
        found = [re.fullmatch(r"\.\[(.*)\]", word) for words in self.installs for word in words]
        return {extra for match in found if match for extra in match.group(1).split(",")}

    @property
    def packages(self) -> set[str]:
        words = {word for words in self.installs for word in words if not word.startswith(("-", "."))}
        return words - {"constraints.txt"}


@pytest.fixture(scope="module")
def noxfile() -> Iterator[ModuleType]:
    """Yield the file of nox, run with an empty registry: a process may come to these tests more than once."""
    registry = pytest.importorskip("nox.registry", reason="the sessions are compared where nox is installed")
    module = ModuleType("noxfile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_REGISTRY", {})
        exec(compile((ROOT / "noxfile.py").read_text(), "noxfile.py", "exec"), vars(module))
        yield module


@pytest.fixture(scope="module")
def sessions(noxfile: ModuleType) -> dict[str, Recorded]:
    """Return what every nox session does, by name."""
    import nox.registry

    options_of = {
        "conformance": [{"backend": backend} for backend in noxfile.JUDGED],
        "scripts": [{"backend": backend} for backend in noxfile.BACKENDS],
        "schedules": [{"algorithm": algorithm} for algorithm in noxfile.ALGORITHMS],
        "switches": [{"switch": switch} for switch in noxfile.SWITCHES],
    }
    found: dict[str, Recorded] = {}
    for name, function in nox.registry.get().items():
        for options in options_of.get(name, [{}]):
            recorded = found["-".join([name, *options.values()])] = Recorded()
            function.func(recorded, **options)
    return found


TOX = ConfigParser(interpolation=None)
TOX.read(ROOT / "tox.ini")
NAMES = [section.removeprefix("testenv:") for section in TOX.sections() if ":" in section]


@pytest.fixture
def tox() -> ConfigParser:
    return TOX


def words(text: str) -> list[str]:
    return [word for word in re.split(r"[,\s]+", text) if word]


def test_nox_and_tox_have_the_same_sessions(sessions: dict[str, Any]) -> None:
    assert set(NAMES) == set(sessions)


def test_nox_and_tox_run_the_same_by_default(noxfile: ModuleType, tox: ConfigParser) -> None:
    assert words(tox["tox"]["env_list"]) == noxfile.nox.options.sessions


@pytest.mark.parametrize("name", NAMES)
def test_a_session_runs_the_same_commands(sessions: dict[str, Recorded], tox: ConfigParser, name: str) -> None:
    commands = tox[f"testenv:{name}"]["commands"].strip().splitlines()
    assert [command.strip() for command in commands] == sessions[name].commands


@pytest.mark.parametrize("name", NAMES)
def test_a_session_sets_the_same_variables(sessions: dict[str, Recorded], tox: ConfigParser, name: str) -> None:
    lines = tox[f"testenv:{name}"].get("setenv", "").strip().splitlines()
    assert not lines or lines[0] == "{[testenv]setenv}"
    assert {key: value for key, _, value in (line.split() for line in lines[1:])} == sessions[name].env


def test_schedules_are_judged_under_every_algorithm(sessions: dict[str, Recorded]) -> None:
    judged = [one.env for name, one in sessions.items() if name.startswith("schedules-")]
    assert judged == [{FORCE: algorithm} for algorithm in ALGORITHMS]


def test_graphs_are_judged_without_every_optimisation(sessions: dict[str, Recorded]) -> None:
    judged = [one.env for name, one in sessions.items() if name.startswith("switches-")]
    assert judged == [{WITHOUT: name} for name in (*OPTIMISATIONS, ALL)]


@pytest.mark.parametrize("name", NAMES)
def test_a_session_installs_the_same(sessions: dict[str, Recorded], tox: ConfigParser, name: str) -> None:
    section = tox[f"testenv:{name}"]
    assert set(words(section.get("extras", ""))) == sessions[name].extras
    groups = {"lint": {"ruff", "check-jsonschema"}, "typecheck": {"mypy", "types-psutil"}}.get(
        section.get("dependency_groups", ""), set()
    )
    installed = {re.split("[=<>~]", package)[0] for package in sessions[name].packages}
    assert installed == set(words(section.get("deps", ""))) | groups


def test_the_backends_that_are_judged_at_length_are_entry_points(noxfile: ModuleType) -> None:
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["conformance.backends"]
    ways = {name for name in named if name.partition("-")[0] == "opencl"}
    assert {*noxfile.VARIANTS, *noxfile.RUN} == ways


def test_every_session_installs_pinned_versions(sessions: dict[str, Recorded], tox: ConfigParser) -> None:
    assert all("constraints.txt" in words for one in sessions.values() for words in one.installs)
    assert "constraints.txt" in tox["testenv"]["setenv"]


def test_continuous_integration_runs_the_line_of_the_manual() -> None:
    line = re.search(r"^(python3 -m venv .*pytest)$", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert line is not None
    assert line.group(1) in (ROOT / ".ci" / "run").read_text()
