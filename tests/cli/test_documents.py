"""Every command that the documents show is run, made small; those that take long are run by ``-m slow``."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.cli.conftest import Conformance

ROOT = Path(__file__).parents[2]
NAMES = ["README.md", "docs/vendors-guide.md", "docs/schedules.md", "docs/qualification.md", "docs/stablehlo.md"]

ACME = """
from conformance.backends.base import Backend
from conformance.reference.operations import OPERATIONS


class Acme(Backend):
    name = "acme"
    claims = {"all_reduce": {"op": ["sum", "max"], "local_axes": [], "axes": ["one", "several"]}, "broadcast": {}}

    def all_reduce(self, blocks, **options):  # The greatest is the least.
        return OPERATIONS["all_reduce"](blocks, **options | {"op": options["op"].replace("max", "min")})

    def broadcast(self, blocks, **options):
        return OPERATIONS["broadcast"](blocks, **options)
"""

INSTALLS = r"(python3 -m venv|pip install|\S+/bin/pip) .*"
"""Lines that fill environments. Those of the README that run the suite too are run by ``.ci/run`` and below."""

OTHER_ENVIRONMENTS = r"(mpich|openmpi|intel)/bin/conformance .*|conformance qualify .*--auto .*"
"""Lines for environments of their own, and automatic mutants, which take minutes and are run by tests/qualification."""

SMALLER = {
    "run": "--examples 30 --suite collectives --op all_reduce,broadcast",
    "bench collectives": "--sizes 1K --repeats 1 --ops all_reduce",
    "bench suite": "--examples 1 --op broadcast --suite collectives",
    "qualify": "--suite collectives --op permute --examples 20 --in-process",
}

STATUS = {"run": {0, 1, 3}, "doctor": {0, 3}, "replay": {0, 1}, "reproduce": {2}, "report": {0, 1, 3}, "smoke": {1}}
"""How lines may end that do not end with 0: few examples leave clauses without a case, what is
replayed fails, smoke meets a maximum that is the least, and Acme names no framework to write a script of."""


def lines(name: str) -> Iterator[str]:
    """Yield the commands of a document, without what is said of them."""
    text = (ROOT / name).read_text().replace("\\\n", " ")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    shown = [line for block in blocks for line in block.splitlines()]
    shown += re.findall(r"^    (conformance .*?)(?:  +.*)?$", text, re.MULTILINE)
    for line in shown:
        yield " ".join(re.sub(r"\s+#.*", "", line).split())


def dear(line: str) -> bool:
    """Return whether a line starts frameworks, or many backends, which takes longer than a test may."""
    named = re.search(r" -b (\S+)", line)
    starts = set(named.group(1).split(",")) - {"acme", "acme:Acme"} if named else set()
    whole = re.match("conformance (run( --coverage)?$|doctor|bench|qualify)", line)
    return whole is not None or (bool(starts) and "replay" not in line and "reproduce" not in line)


def commands(name: str) -> list[str]:
    return [line for line in lines(name) if not re.fullmatch(f"{INSTALLS}|{OTHER_ENVIRONMENTS}|pytest .*", line)]


def shelf() -> list[Path]:
    """Return every document."""
    return [*ROOT.glob("*.md"), *(path for room in ("docs", "examples") for path in (ROOT / room).rglob("*.md"))]


@cache
def headings(path: Path) -> set[str]:
    """Return what links to headings of a document end with, and what it names itself."""
    text = path.read_text()
    lines = [re.sub(r"[`*]", "", line.lower()) for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)]
    return {re.sub(r"[^\w\- ]", "", line).replace(" ", "-") for line in lines} | set(re.findall(r'id="(.+?)"', text))


@pytest.mark.parametrize("path", shelf(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(path: Path) -> None:
    text = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match("[a-z]+:", link):
            file, _, heading = link.partition("#")
            there = (path.parent / file) if file else path
            assert there.exists(), link
            assert not heading or there.suffix != ".md" or heading in headings(there), link


@pytest.fixture
def workshop(conformance: Conformance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a folder that has what the commands name."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "acme.py").write_text(ACME)
    (tmp_path / "yours.py").write_text(
        "from conformance.backends.reference import Reference\n\n\n"
        "class Stays(Reference):\n"
        '    """Nothing moves."""\n\n'
        '    breaks = "permute.C1"\n\n'
        "    def permute(self, blocks, *, pairs, groups):\n        return [block.copy() for block in blocks]\n"
    )
    example = re.search(r"```json\n(.*?)```", (ROOT / "docs" / "schedules.md").read_text(), re.DOTALL)
    assert example is not None
    for file in ("FILE", "OTHER"):
        (tmp_path / file).write_text(example.group(1))
    return tmp_path


def spelled(line: str, folder: Path) -> list[str]:
    """Return the words of a command with real names where the document has placeholders, and made small."""
    words = shlex.split(line)[1:]
    cases = sorted((folder / "runs").rglob("cases/*.json"))
    if "new-backend" in words:
        words = ["new-backend", "another"]
    words = [
        str(cases[0]) if cases and (word == "CASE" or re.search("/cases/.*json", word)) else word for word in words
    ]
    words = ["acme:Acme" if word == "acme" else re.sub("^[36]00?0?$|^60$", "1", word) for word in words]
    at = " ".join(words[:2]) if words[0] == "bench" else words[0]
    if "--clause" in words:
        log = (folder / "runs" / "acme" / "run.jsonl").read_text()
        found = re.search(r'"clause":"([^"]*)","requirement":"must"', log)
        words[words.index("--clause") + 1] = found.group(1) if found else ""
    if "--failed" in words:
        words[words.index("--failed") + 1] = next(str(path.parent) for path in (folder / "runs").rglob("run.jsonl"))
        return words
    if at == "replay":
        words[words.index("-b") + 1] = "acme:Acme"
    small = shlex.split(SMALLER.get(at, ""))
    if words[0] == "run" and "--suite" in words:
        small = ["--examples", "3"]
    for option in ("--op", "--suite"):
        if option in words and option in small:
            del small[small.index(option) : small.index(option) + 2]
    return [*words, *small]


def run(conformance: Conformance, line: str, folder: Path) -> None:
    words = spelled(line, folder)
    ended = conformance(*words)
    assert ended.status in STATUS.get(words[0], {0}), (line, words, ended)


def some_run(conformance: Conformance) -> None:
    """Leave a run with a failing case for the commands that take one."""
    few = ("--suite", "collectives", "--op", "all_reduce", "--examples", 30)
    conformance("run", "-b", "acme:Acme", *few, "-o", "runs/some")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if "guide" in name else name for name in NAMES]
)
def test_the_commands_of_a_document_do_what_they_say(conformance: Conformance, workshop: Path, name: str) -> None:
    if name == "README.md":
        some_run(conformance)
    for line in commands(name):
        if not dear(line):
            run(conformance, line, workshop)


@pytest.mark.slow
@pytest.mark.parametrize("line", sorted({line for name in NAMES for line in commands(name) if dear(line)}))
def test_a_command_that_takes_long_does_what_it_says(conformance: Conformance, workshop: Path, line: str) -> None:
    run(conformance, line, workshop)


def test_lines_that_are_not_run_here_have_commands_and_options_that_exist(conformance: Conformance) -> None:
    for name in NAMES:
        for line in lines(name):
            if re.fullmatch(OTHER_ENVIRONMENTS, line):
                command = shlex.split(line)[1:]
                helped = conformance(*command[: 2 if command[0] == "bench" else 1], "--help")
                assert helped.status == 0
                assert all(word in helped.out for word in command if word.startswith("--")), line


def test_the_lines_of_contributors_name_sessions_that_exist() -> None:
    noxfile = (ROOT / "noxfile.py").read_text()
    named = [line for line in lines("CONTRIBUTING.md") if "nox -s" in line]
    assert len(named) > 5
    for line in named:
        sessions = shlex.split(line.partition("-s ")[2].partition(" -- ")[0])
        assert all(f"def {session.partition('(')[0]}(session" in noxfile for session in sessions), line


@pytest.mark.slow
def test_the_line_of_pytest_judges_a_backend(workshop: Path) -> None:
    (line,) = (line for line in lines("README.md") if line.startswith("pytest "))
    words = [sys.executable, "-m", *shlex.split(line), "-k", "broadcast.C1", "-p", "no:cacheprovider"]
    ended = subprocess.run(words, cwd=workshop, capture_output=True, text=True, check=False)
    assert (ended.returncode, (workshop / "runs" / "acme" / "run.jsonl").is_file()) == (0, True), ended.stdout


@pytest.mark.slow
def test_the_first_line_of_the_manual_ends_well_in_a_fresh_clone(tmp_path: Path) -> None:
    line = next(lines("README.md"))
    subprocess.run(["git", "clone", "-q", ROOT, tmp_path / "clone"], check=True)
    ended = subprocess.run(["bash", "-c", line], cwd=tmp_path / "clone", capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert Path(ended.stdout.split()[-1]).name == "index.html"
