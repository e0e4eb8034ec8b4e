"""What is shown in a sandbox of what lies below its own temporary files, and what is said where none can be."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.runner.worker import sandbox
from conformance.runner.worker.sandbox_trial import why_no_sandbox


def bound(words: list[str]) -> set[str]:
    """Return what is bound to be read, of the words that start a sandbox."""
    return {words[at + 1] for at, word in enumerate(words) if word == "--ro-bind-try"}


def test_a_package_below_the_temporary_files_is_shown_where_it_is_and_where_a_link_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden, outside = tmp_path / "hidden", tmp_path / "outside"
    (hidden / "clone").mkdir(parents=True)
    outside.symlink_to(hidden / "clone")
    monkeypatch.setattr(sandbox, "_BELOW", (f"{hidden}/",))
    monkeypatch.setattr(sys, "path", [*sys.path, str(outside)])
    assert str(hidden / "clone") in bound(sandbox.wrapped(["/bin/true"], tmp_path, tmp_path))
    assert str(outside) not in bound(sandbox.wrapped(["/bin/true"], tmp_path, tmp_path))


def test_nothing_is_bound_over_a_link_in_a_folder_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = tmp_path / "environment"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    monkeypatch.setattr(sandbox, "_BELOW", (f"{tmp_path}/",))
    monkeypatch.setattr(sys, "prefix", str(environment))
    monkeypatch.setattr(sys, "executable", str(environment / "bin" / "python"))
    assert bound(sandbox.wrapped([sys.executable], tmp_path, tmp_path)) & {str(environment), sys.executable} == {
        str(environment)
    }


def refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> str:
    """Return what `run --sandbox` says, which ends with 2 and makes nothing."""
    status = main(["run", "-b", "reference", "--op", "broadcast", "--sandbox", "-o", str(tmp_path / "out")])
    said = capsys.readouterr()
    assert (status, said.out, (tmp_path / "out").exists()) == (2, "", False)
    return said.err


def test_without_bubblewrap_no_run_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert why_no_sandbox().startswith("bwrap is not installed: install bubblewrap")
    assert "--sandbox cannot work here: bwrap is not installed" in refused(capsys, tmp_path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a supervisor starts it as on Linux")
def test_where_the_kernel_forbids_namespaces_no_run_begins_and_the_doctor_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    said = refused(capsys, tmp_path)
    assert "--sandbox cannot work here: bwrap: No permissions to create new namespace; the kernel has to let" in said
    assert "sysctl user.max_user_namespaces" in said
    from conformance.cli.commands.doctor import sandbox as line

    assert line().startswith("  sandbox  none: bwrap: No permissions to create new namespace")
