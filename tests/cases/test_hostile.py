"""Every malformed or hostile case file gives one clear line."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from conformance.cases.case import Case
from conformance.cases.codec import CaseError, load, save
from conformance.cases.program.program import Program, Step

Make = Callable[..., Case]
Edit = Callable[[dict[str, Any]], Any]


def refusal(path: Path) -> str:
    """Return the one line that refuses the file."""
    with pytest.raises(CaseError) as caught:
        load(path)
    line = str(caught.value)
    assert line.startswith(f"case file {path}: ")
    assert "\n" not in line
    assert caught.value.__cause__ is None
    return line


def block(document: dict[str, Any], rank: int = 0) -> dict[str, Any]:
    """Return the stored tensor of input x on ``rank``."""
    found: dict[str, Any] = document["inputs"]["x"]["blocks"][rank]
    return found


EDITS: dict[str, Edit] = {
    "it has format 2; this suite reads format 1": lambda d: d.update(format=2, novelty=1),
    "Object contains unknown field `clauses`": lambda d: d.update(clauses=[]),
    "Object missing required field `program`": lambda d: d.pop("program"),
    "but its content has the id 'all_gather/": lambda d: d.update(id="all_gather/int32-2/0123456789ab"),
    "matching regex": lambda d: d.update(id="0123456789ab"),
    "Expected `int`, got `str` - at `$.program.mesh[0].size`": lambda d: d["program"]["mesh"][0].update(size="2"),
    "Expected `int`, got `float`": lambda d: block(d).update(shape=[0.5]),
    "Expected `int` >= 0": lambda d: block(d).update(shape=[-1]),
    "x/0: shape [1099511627776] of int32 is over the limit of 1024 MiB": lambda d: block(d).update(shape=[1 << 40]),
    "over the limit of 1024 MiB": lambda d: block(d).update(shape=[0, 1 << 62], bits=""),
    "x/0: 65 axes are more than 64": lambda d: block(d).update(shape=[1] * 65),
    "x/0: unknown dtype 'float31'; known are bool": lambda d: block(d).update(dtype="float31"),
    "needs 8 hex digits, got 6": lambda d: block(d).update(bits="010000"),
    "matching regex '^([0-9a-f]{2})*$'": lambda d: block(d).update(bits="0100000G"),
    "x/0: a tensor has either bits or a file": lambda d: block(d).update(file="case.safetensors"),
    "x/1: a tensor has either bits or a file": lambda d: block(d, 1).pop("bits"),
    "Invalid enum value 'diagonal'": lambda d: d["inputs"]["x"].update(layouts=["diagonal", "offset"]),
    "input 'x' has 1 blocks for 2 ranks": lambda d: d["inputs"]["x"]["blocks"].pop(),
    "input 'x' has 3 layouts for 2 ranks": lambda d: d["inputs"]["x"]["layouts"].append("offset"),
    "mesh axis 'i' has size 0; it must have at least 1": lambda d: d["program"]["mesh"][0].update(size=0),
    "the mesh has 1000000 ranks; at most 1024": lambda d: d["program"]["mesh"][0].update(size=10**6),
    "the mesh has two axes named 'i'": lambda d: d["program"]["mesh"].append({"name": "i", "size": 1}),
    "step 0 (all_gather) uses 'z', which no input": lambda d: d["program"]["steps"][0].update(inputs=["z"]),
    "step 0 (all_gather) defines 'x', which is already": lambda d: d["program"]["steps"][0].update(outputs=["x"]),
    "result 'z' is never produced": lambda d: d["program"].update(results=["z"]),
    "name a value twice": lambda d: d["program"].update(results=["y", "y"]),
    "Invalid enum value 'quantum'": lambda d: d["program"].update(dialect="quantum"),
}


@pytest.mark.parametrize(("line", "edit"), EDITS.items(), ids=EDITS)
def test_a_wrong_document_is_refused(make: Make, tmp_path: Path, line: str, edit: Edit) -> None:
    path = tmp_path / "case.json"
    save(make(), path)
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))
    assert line in refusal(path)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "it is not JSON"),
        (b"\x80PNG\x00", "it is not JSON"),
        (b"[]", "Expected `object`, got `array`"),
        (b"[" * 1_000_000, "Expected `object`, got `array`"),
        (b'{"id": ' + b"[" * 1_000_000, "Expected `str`, got `array`"),
        (b'{"format": 1, "inputs": {"x": {"blocks": [{"shape": [NaN]}]}}}', "it is not JSON"),
        (b'{"format": 1, "inputs": {"x": {"blocks": [{"shape": [null]}]}}}', "Expected `int`, got `null`"),
        (b'{"format": 1, "id": "\\ud800"}', "it is not JSON"),
    ],
)
def test_what_is_no_document_is_refused(tmp_path: Path, content: bytes, line: str) -> None:
    path = tmp_path / "case.json"
    path.write_bytes(content)
    assert line in refusal(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "No such file" in refusal(tmp_path / "absent.json")
    assert "it is not a regular file" in refusal(tmp_path)
    assert "it is not a regular file" in refusal(tmp_path / "pipe")
    assert "it is not a regular file" in refusal(Path("/dev/zero"))


def test_a_huge_document_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "case.json").open("wb") as file:
        file.truncate(1 << 40)
    assert "over the limit of 64 MiB" in refusal(tmp_path / "case.json")


def test_a_broadcast_layout_over_varying_data_is_refused(make: Make, tmp_path: Path) -> None:
    save(make([np.array([1, 2], np.int32)] * 2, "broadcast"), tmp_path / "case.json")
    assert "input 'x', rank 0: a broadcast layout needs a block that is constant" in refusal(tmp_path / "case.json")


@pytest.fixture
def large(make: Make, tmp_path: Path) -> Path:
    """Return the file of a case with its tensors in a sibling."""
    save(make([np.arange(2000, dtype=np.int32)] * 2), tmp_path / "case.json")
    return tmp_path / "case.json"


@pytest.mark.parametrize(
    "name", ["../case.safetensors", "/etc/passwd", "a/b.safetensors", "..", "a\\b.safetensors", ""]
)
def test_a_file_that_is_no_plain_sibling_is_refused(large: Path, name: str) -> None:
    large.write_text(large.read_text().replace("case.safetensors", json.dumps(name)[1:-1]))
    assert "matching regex" in refusal(large)


def test_a_link_out_of_the_folder_is_refused(large: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    sibling = large.with_suffix(".safetensors")
    sibling.symlink_to(sibling.rename(tmp_path / "elsewhere" / "real.safetensors"))
    assert "file 'case.safetensors' leads out of its folder" in refusal(large)


def test_a_sibling_that_is_not_sound_is_refused(large: Path) -> None:
    sibling = large.with_suffix(".safetensors")
    content = sibling.read_bytes()
    for broken in (content[:-1], content[:20], b"", b"\xff" * 64, (1 << 62).to_bytes(8, "little") + content):
        sibling.write_bytes(broken)
        assert "case.safetensors is not a sound safetensors file" in refusal(large)
    sibling.write_bytes(content.replace(b'"U32"', b'"I32"'))
    assert "'x/0' is I32 [2000], not U32 [2000]" in refusal(large)
    sibling.write_bytes(content.replace(b"x/0", b"x/7"))
    assert "case.safetensors has no tensor 'x/0'" in refusal(large)
    sibling.write_bytes(content[:-1] + b"\x01")
    assert "but its content has the id" in refusal(large)
    sibling.unlink()
    assert "file 'case.safetensors' is not there" in refusal(large)


def test_a_sibling_that_is_a_pipe_is_refused(large: Path) -> None:
    large.with_suffix(".safetensors").unlink()
    os.mkfifo(large.with_suffix(".safetensors"))
    assert "file 'case.safetensors' is not a regular file" in refusal(large)


@pytest.mark.parametrize(
    "wrong",
    [
        {"groups": [[0, 0], [7]], "attrs": {"axis": 99, "tiled": False}},
        {"axes": ["nowhere"]},
        {"axes": ["i", "i"]},
        {"axes": []},
    ],
)
def test_an_illegal_program_is_no_malformed_case(make: Make, tmp_path: Path, wrong: dict[str, Any]) -> None:
    save(make(), tmp_path / "case.json")
    document = json.loads((tmp_path / "case.json").read_text())
    document["program"]["steps"][0].update(wrong)
    (tmp_path / "case.json").write_text(json.dumps(document))
    line = refusal(tmp_path / "case.json")
    (tmp_path / "case.json").write_text(json.dumps({**document, "id": line.split("'")[-2]}))
    step = json.loads(msgspec.json.encode(load(tmp_path / "case.json").program.steps[0]))
    assert {name: step[name] for name in wrong} == wrong


def test_a_step_over_no_operands_is_no_malformed_case(make: Make, tmp_path: Path) -> None:
    step = Step(op="all_gather", inputs=(), outputs=(), axes=("i",), attrs={"axis": 0, "tiled": True})
    save(Case(program=Program(mesh=make().program.mesh, steps=(step,), results=()), inputs={}), tmp_path / "case.json")
    assert load(tmp_path / "case.json").program.steps == (step,)
