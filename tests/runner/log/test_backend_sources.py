"""Which revision of somebody else's backend a run was made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.backends import discovery
from conformance.runner.log.backend_sources import SOURCES, backend_sources, is_ours


def test_a_changed_line_of_a_backend_is_another_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file, program = tmp_path / "somebodys_own.py", tmp_path / "worker"
    names = ("somebodys_own:It", str(program), f"exec:{program} --fast")
    seen = []
    for text in ("a = 1", "a = 2"):
        file.write_text(text)
        program.write_text(text)
        program.chmod(0o755)
        seen.append(backend_sources(names))
    assert all(seen[0][f"{SOURCES}{name}"] != seen[1][f"{SOURCES}{name}"] for name in names)


def test_ours_are_told_by_the_suite_and_of_what_is_in_no_file_nothing_is_known() -> None:
    assert is_ours("reference")
    assert not is_ours("acme")
    assert backend_sources(["reference", "opencl", "conformance.qualification.mutants.scan:It", "it"]) == {}


def test_whose_a_backend_is_does_not_depend_on_what_is_installed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "_problem", lambda entry: pytest.fail(f"{entry.name} was looked for"))
    assert is_ours("torch-checked")
