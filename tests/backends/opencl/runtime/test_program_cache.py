"""Programs that were built are there for the next process, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.backends.opencl.render.kernels import Body, alone
from conformance.backends.opencl.render.point import NAME
from conformance.backends.opencl.runtime import kernels
from conformance.backends.opencl.runtime.kernels import Kernels, _built
from conformance.backends.opencl.runtime.program_cache import FOLDER, OFF, ProgramCache, folder
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.settings import POCL
from conformance.cli.commands.doctor import programs


def test_what_is_kept_is_found_and_what_was_cut_is_not(tmp_path: Path) -> None:
    ProgramCache(["cpu"], tmp_path).keep("p", [b"binary", b"binary"], ["k"])
    other = ProgramCache(["cpu"], tmp_path)
    assert (other.program_of("k"), other.find("p")) == ("p", [b"binary"])
    assert ProgramCache(["another cpu"], tmp_path).find("p") is None
    (path,) = tmp_path.glob("*/p.program")
    path.write_bytes(path.read_bytes()[:-1])
    assert other.find("p") is None


def test_the_oldest_go_where_there_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.backends.opencl.runtime.program_cache.MOST_BYTES", 1000)
    for number in range(20):
        ProgramCache(["cpu"], tmp_path).keep(f"p{number}", [bytes(100)])
    kept = {path.stem for path in tmp_path.glob("*/*.program")}
    assert "p19" in kept
    assert len(kept) < 10


def test_the_environment_names_the_folder_or_none(tmp_path: Path) -> None:
    assert folder({FOLDER: OFF}) is None
    assert folder({FOLDER: str(tmp_path)}) == tmp_path
    assert "none" in programs({FOLDER: OFF})
    assert "0.0 MiB" in programs({FOLDER: str(tmp_path)})


@pytest.mark.parametrize("spoil", [b"", b"no program", None])
def test_another_process_takes_the_kernels_that_are_whole(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoil: bytes | None
) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    text = f"__kernel void {NAME}(__global float* w0) {{ w0[get_global_id(0)] = 1.0f; }}\n"
    Kernels(session.platform.context).build({text: True})
    for path in tmp_path.glob("*/*.program") if spoil is not None else ():
        path.write_bytes(spoil)
    built: list[str] = []
    monkeypatch.setattr(kernels, "_built", lambda *asked: built.append(asked[1]) or _built(*asked))
    second = Kernels(session.platform.context)
    second.build({text: True})
    assert second.fused(text).num_args == 1
    assert len(built) == (0 if spoil is None else 1)


def test_only_what_is_needed_is_built_and_what_is_small_in_one_program(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    if session.platform.context.devices[0].platform.name == POCL:
        pytest.skip("PoCL builds a program as fast as a kernel")
    monkeypatch.setenv(FOLDER, OFF)
    built: list[str] = []
    monkeypatch.setattr(kernels, "_built", lambda *asked: built.append(asked[1]) or _built(*asked))
    made = Kernels(session.platform.context)
    made.begin()
    assert not built
    fold, move = (Body(op, word, word) for op, word in (("sum", "float32"), ("move", "4")))
    made.build({alone(fold): False, alone(move): False})
    assert made.fused(alone(fold)).num_args == made.kernel(fold).num_args == 17
    assert [source.count("__kernel") for source in built] == [2, 1]
