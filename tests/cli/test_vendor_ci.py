"""What ``new-backend --ci github`` writes is a package whose sessions and workflow run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from configparser import ConfigParser
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.cli.conftest import Conformance
from tests.test_sessions import Recorded

FILES = {
    "acme_two.py",
    "test_acme_two.py",
    "pyproject.toml",
    "README.md",
    "noxfile.py",
    "tox.ini",
    ".github/workflows/conformance.yml",
    "ci/known.json",
}
WORKFLOW = Path(".github/workflows/conformance.yml")


@pytest.fixture
def package(conformance: Conformance, tmp_path: Path) -> Path:
    """Return the folder of a package that is installed as far as entry points go."""
    assert conformance("new-backend", "acme-two", "--ci", "github").status == 0
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    metadata = tmp_path / "acme_two-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0.1.0\n")
    named = [
        f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in table.items())
        for group, table in project["entry-points"].items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(named))
    return tmp_path


def execute(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(Path.cwd()), "PYTEST_ADDOPTS": "-p no:cacheprovider", **more}
    return subprocess.run(words, capture_output=True, text=True, check=False, env=env)


def names(folder: str = ".") -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def workflow() -> dict[str, Any]:
    yaml = pytest.importorskip("ruamel.yaml", reason="workflows are read where check-jsonschema is installed")
    found: dict[str, Any] = yaml.YAML(typ="safe").load(WORKFLOW.read_text())
    return found


def test_a_package_has_these_files_and_nothing_is_overwritten(conformance: Conformance, tmp_path: Path) -> None:
    Path("noxfile.py").write_text("mine")
    ended = conformance("new-backend", "acme-two", "--ci", "github")
    assert (ended.status, "noxfile.py exists" in ended.err, names()) == (2, True, {"noxfile.py"})
    Path("noxfile.py").unlink()
    assert conformance("new-backend", "acme-two", "--ci", "github").status == 0
    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {str(path.relative_to(tmp_path)) for path in made} == FILES
    assert not any(re.search("PROJECT|MODULE|CLASS|VERSION", path.read_text()) for path in made)


def test_the_workflow_is_one_of_github(package: Path) -> None:
    pytest.importorskip("check_jsonschema", reason="the schema of workflows comes with it")
    words = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(WORKFLOW))
    done = execute(*words)
    assert done.returncode == 0, done.stdout
    WORKFLOW.write_text(WORKFLOW.read_text().replace("runs-on", "runs-of"))
    assert execute(*words).returncode == 1


def test_the_workflow_has_a_job_for_pull_requests_and_one_for_nights(package: Path) -> None:
    found = workflow()
    assert found["jobs"].pop("comment")["permissions"] == {"pull-requests": "write"}
    assert found["jobs"]["pull-request"]["steps"].pop(-3)["with"]["path"] == "runs/acme-two/comment.md"
    assert set(found["jobs"]) == {"pull-request", "nightly"}
    assert {"pull_request", "push", "schedule", "workflow_dispatch"} == set(found.get("on", found.get(True)))
    for job in found["jobs"].values():
        (run,) = (step["run"] for step in job["steps"] if step.get("run", "").startswith("conformance run"))
        assert re.search(r"--known ci/known.json .*--seed .*--time-budget \d+", run)
        uploaded = [step["with"]["path"] for step in job["steps"] if "upload-artifact" in step.get("uses", "")]
        assert uploaded == ["runs/acme-two/junit.xml", "runs/acme-two"]
        assert any(step.get("with", {}).get("cache") == "pip" for step in job["steps"])


@pytest.mark.parametrize(
    ("job", "written", "run"),
    [
        ("pull-request", "--profile deck", "--profile deck"),
        ("nightly", "--profile nightly", "--examples 60"),
    ],
)
def test_the_lines_of_a_job_run(package: Path, job: str, written: str, run: str) -> None:
    lines = [step["run"] for step in workflow()["jobs"][job]["steps"] if "run" in step]
    assert sum(written in line for line in lines) == 1
    for line in lines:
        if not line.startswith("python -m pip install"):
            done = execute(
                "bash", "-euo", "pipefail", "-c", line.replace(written, run), GITHUB_STEP_SUMMARY="summary.md"
            )
            # So few draws, of the seed of the day, may leave a clause that no case was about.
            right = (
                (0, 3) if (job, run) == ("nightly", "--examples 60") and line.startswith("conformance run") else (0,)
            )
            assert done.returncode in right, done.stdout + done.stderr
    assert {"junit.xml", "report.md", "index.html"} <= names("runs/acme-two")
    assert Path("summary.md").read_text().startswith("## Conformance")


def test_a_session_of_nox_runs_what_tox_runs(package: Path) -> None:
    registry = pytest.importorskip("nox.registry", reason="sessions are run where nox is installed")
    module, tox = ModuleType("noxfile"), ConfigParser(interpolation=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_REGISTRY", {})
        exec(compile(Path("noxfile.py").read_text(), "noxfile.py", "exec"), vars(module))
        tox.read("tox.ini")
        sessions = registry.get()
        assert {f"testenv:{name}" for name in sessions} == {name for name in tox.sections() if ":" in name}
        for name, function in sessions.items():
            recorded = Recorded()
            function.func(recorded)
            assert recorded.commands == [tox[f"testenv:{name}"]["commands"]]
            assert recorded.installs == [
                ("-e", f".[{extra}]" if (extra := tox[f"testenv:{name}"].get("extras")) else ".")
            ]


def test_nox_judges_the_package(package: Path) -> None:
    pytest.importorskip("nox", reason="sessions are run where nox is installed")
    done = execute(sys.executable, "-m", "nox", "--no-venv", "--no-install", "-s", "tests", "conformance")
    assert done.returncode == 0, done.stdout + done.stderr
    assert Path("runs/acme-two/junit.xml").is_file()


def test_what_the_readme_of_a_package_says_is_there(package: Path, conformance: Conformance) -> None:
    text = Path("README.md").read_text()
    for session in re.findall(r"nox -s (\w+)", text):
        assert f"def {session}(session" in Path("noxfile.py").read_text()
    for path in re.findall(r"`([\w./]+/[\w./]+|\w+\.py)`", text):
        assert Path(path).is_file()
    assert execute("conformance", "smoke", "-b", "acme-two").returncode == 0
    broken = Path("acme_two.py").read_text().replace("total.copy()", "blocks[rank]")
    Path("acme_two.py").write_text(broken)
    one = ("--op", "all_reduce", "--suite", "collectives", "--examples", "60", "-o", "runs/acme-two")
    assert execute("conformance", "run", "-b", "acme-two", *one).returncode == 1
    (known,) = re.findall(r"^conformance known .*$", text, re.MULTILINE)
    assert execute("bash", "-c", known).returncode == 0
    assert (
        execute("conformance", "run", "-b", "acme-two", "--known", "ci/known.json", *one[:-1], "again").returncode == 0
    )


@pytest.mark.parametrize("name", ["acmé", "acme two", "reference", "-acme", "acme-"])
def test_what_is_no_name_of_a_package_is_one_line(conformance: Conformance, name: str) -> None:
    ended = conformance("new-backend", "--ci", "github", "--", name)
    assert (ended.status, ended.err.count("\n"), names()) == (2, 1, set()), ended
