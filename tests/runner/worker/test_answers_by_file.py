"""An answer by a file is held against the case as one in a line is, and before any of its tensors is read."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest
from safetensors.numpy import save_file

from conformance.cases.observation import Observation
from conformance.cases.observation_file import ObservationFile
from conformance.cases.tensor.tensor import to_array
from conformance.runner.worker import misfits, wire
from tests.runner.conftest import broadcast_of

Edit = Callable[[dict[str, Any]], Any]
SMALL = {"dtype": "uint8", "shape": [4], "bits": "07070707"}
BY_FILE = {"dtype": "uint8", "shape": [4], "file": "answer.safetensors"}
DONE = b'{"type":"done","seq":1,"file":"answer.json"}'


def answer(folder: Path, **more: Any) -> Observation:
    """Return the observation of a file with these fields beside right results."""
    said = {"results": {"y": [SMALL, SMALL]}, "seconds": 0.5, **more}
    (folder / "answer.json").write_text(json.dumps(said))
    return wire.observation(DONE, 1, broadcast_of(7), folder)


def inline(**more: Any) -> Observation:
    said = {"results": {"y": [SMALL, SMALL]}, "seconds": 0.5, **more}
    line = json.dumps({"type": "done", "seq": 1, "observation": said}).encode()
    return wire.observation(line, 1, broadcast_of(7), Path())


def test_both_ways_have_the_same_fields_of_the_same_types() -> None:
    ways = (get_type_hints(kind, include_extras=True) for kind in (Observation, ObservationFile))
    one, other = ({name: hint for name, hint in way.items() if name != "results"} for way in ways)
    assert one == other


@pytest.mark.parametrize(
    "more",
    [
        {"seconds": -5},
        {"seconds": 1e308},
        {"seconds": "soon"},
        {"errors": [{"kind": "E", "message": "", "category": "fatal"}, None]},
        {"errors": [None]},
        {"results": {"y": [SMALL]}},
        {"results": {"y": [{**SMALL, "bits": "07"}, SMALL]}},
        {"results": {"y": [{**SMALL, "bits": "0707070G"}, SMALL]}},
        {"results": {"y": [{**SMALL, "shape": [1] * 66}, SMALL]}},
        {"results": {"y": [{**SMALL, "shape": [-4]}, SMALL]}},
        {"results": {"y": [{**SMALL, "dtype": "uint9"}, SMALL]}},
        {"results": {"y": [{**SMALL, "shape": [1 << 40], "bits": ""}, SMALL]}},
        {"results": {"z": [SMALL, SMALL]}},
        {"touched": [{"input": "q", "rank": 9, "index": 0, "before": "", "after": ""}]},
        {"health": {"seconds": -1}},
        {"sizes": {"y": 0.5}},
    ],
    ids=str,
)
def test_what_is_refused_in_a_line_is_refused_in_a_file(tmp_path: Path, more: dict[str, Any]) -> None:
    with pytest.raises(wire.ProtocolError):
        inline(**more)
    with pytest.raises(wire.ProtocolError) as caught:
        answer(tmp_path, **more)
    assert "\n" not in str(caught.value)


def test_a_right_answer_with_its_tensors_beside_it_is_taken(tmp_path: Path) -> None:
    save_file({f"y/{rank}": np.full(4, 7, np.uint8) for rank in (0, 1)}, tmp_path / "answer.safetensors")
    seen = answer(tmp_path, results={"y": [BY_FILE, BY_FILE]})
    (block, _) = seen.results["y"]
    assert block is not None
    assert to_array(block).tolist() == [7] * 4
    assert not list(tmp_path.iterdir())


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(512 << 20)


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def folder(path: Path) -> None:
    path.mkdir()


def cut(path: Path) -> None:
    save_file({f"y/{rank}": np.full(4, 7, np.uint8) for rank in (0, 1)}, path)
    os.truncate(path, path.stat().st_size - 3)


def one_more_tensor(path: Path) -> None:
    blocks = {f"y/{rank}": np.full(4, 7, np.uint8) for rank in (0, 1)}
    save_file({**blocks, "z/0": np.zeros(1 << 20, np.uint8)}, path)


@pytest.mark.parametrize("make", [sparse, fifo, link, folder, cut, one_more_tensor])
@pytest.mark.parametrize("name", ["answer.json", "answer.safetensors"])
def test_a_hostile_file_is_an_error_of_that_answer_and_takes_no_memory(
    tmp_path: Path, make: Callable[[Path], None], name: str
) -> None:
    said = {"results": {"y": [BY_FILE, BY_FILE]}, "seconds": 0.5}
    (tmp_path / "answer.json").write_text(json.dumps(said))
    (tmp_path / name).unlink(missing_ok=True)
    make(tmp_path / name)
    tracemalloc.start()
    with pytest.raises(wire.ProtocolError) as caught:
        wire.observation(DONE, 1, broadcast_of(7), tmp_path)
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()
    assert "\n" not in str(caught.value)


def test_an_answer_far_larger_than_the_case_is_refused_before_its_file_is_opened(tmp_path: Path) -> None:
    huge = {"dtype": "float64", "shape": [misfits.ROOM // 8], "file": "answer.safetensors"}
    with pytest.raises(wire.ProtocolError, match="over the limit of 64 MiB for this case"):
        answer(tmp_path, results={"y": [huge, huge]})


def test_a_wrong_answer_that_is_somewhat_larger_is_taken_and_can_be_judged(tmp_path: Path) -> None:
    save_file({f"y/{rank}": np.zeros(1 << 20, np.uint64) for rank in (0, 1)}, tmp_path / "answer.safetensors")
    long = {"dtype": "float64", "shape": [1 << 20], "file": "answer.safetensors"}
    assert answer(tmp_path, results={"y": [long, long]}).results["y"][1] is not None
