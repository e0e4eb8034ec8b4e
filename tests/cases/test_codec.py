"""A case survives the trip to disk, bit for bit."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import msgspec
import numpy as np
import pytest
from safetensors.numpy import load_file

from conformance.cases.case import FORMAT, LONG, Case, case_id, digest
from conformance.cases.codec import load, save
from conformance.cases.observation import Observation, RankError, Touched
from conformance.cases.observation_file import read_observation, restored, save_observation
from conformance.cases.tensor.dtypes import NUMPY
from conformance.cases.tensor.layout import Layout
from conformance.cases.tensor.tensor import from_array

Make = Callable[..., Case]


def noise(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return random bits, NaN payloads among them (a bool is 0 or 1)."""
    width = NUMPY[dtype].itemsize
    raw = np.random.default_rng(7).integers(0, 2 if dtype == "bool" else 256, (*shape, width), np.uint8)
    return raw.view(NUMPY[dtype]).reshape(shape)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (40, 60)])
@pytest.mark.parametrize("dtype", NUMPY)
def test_every_dtype_and_size_survives(make: Make, tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    case = make([noise(dtype, shape), np.zeros(shape, NUMPY[dtype])])
    save(case, tmp_path / "case.json")
    assert load(tmp_path / "case.json") == case


def test_the_digest_of_a_case_with_long_blocks_is_that_of_its_whole_text(make: Make) -> None:
    case = make([noise("uint8", (LONG,)), noise("uint8", (3,))])
    whole = msgspec.json.encode((FORMAT, case), order="deterministic")
    assert digest(case) == hashlib.sha256(whole).hexdigest()[:12]


@pytest.mark.parametrize("layout", get_args(Layout))
def test_every_layout_survives(make: Make, tmp_path: Path, layout: Layout) -> None:
    case = make([np.ones((2, 3), np.float32)] * 2, layout)
    save(case, tmp_path / "case.json")
    assert load(tmp_path / "case.json") == case


def test_nan_payloads_and_negative_zero_survive(make: Make, tmp_path: Path) -> None:
    patterns = np.array([0x7FC00001, 0xFFA00000, 0x80000000, 0x7F800001], np.uint32)
    case = make([patterns.view(np.float32)] * 2)
    save(case, tmp_path / "case.json")
    assert load(tmp_path / "case.json").inputs["x"].blocks[0].bits == "0100c07f0000a0ff000000800100807f"


def test_large_tensors_go_to_a_sibling_as_unsigned_integers(make: Make, tmp_path: Path) -> None:
    case = make([noise("bfloat16", (64, 33)), noise("bfloat16", (64, 31))])
    save(case, tmp_path / "case.json")
    stored = load_file(tmp_path / "case.safetensors")
    assert {key: (array.dtype.name, array.shape) for key, array in stored.items()} == {"x/0": ("uint16", (64, 33))}
    assert load(tmp_path / "case.json") == case
    assert sorted(path.name for path in tmp_path.iterdir()) == ["case.json", "case.safetensors"]


def test_the_same_case_gives_the_same_bytes(make: Make, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        save(make([noise("float32", (50, 50)), noise("float32", (2,))]), tmp_path / folder / "case.json")
    for name in ("case.json", "case.safetensors"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_ids_are_stable(make: Make) -> None:
    assert case_id(make()) == "all_gather/int32-2/8c10d5b339ce"


def test_a_loaded_case_has_the_id_of_the_saved(make: Make, tmp_path: Path) -> None:
    save(make(), tmp_path / "case.json")
    assert case_id(load(tmp_path / "case.json")) == case_id(make())


def test_an_observation_travels_by_file(tmp_path: Path) -> None:
    error = RankError(kind="ValueError", message="no", category="invalid_argument")
    observation = Observation(
        results={"y": (from_array(noise("float64", (40, 50))), None, from_array(np.float32(-0.0)))},
        errors=(None, error, None),
        touched=(Touched(input="x", rank=1, index=3, before="00", after="01"),),
        seconds=0.25,
    )
    save_observation(observation, tmp_path / "reply.json")
    assert restored(read_observation(tmp_path / "reply.json"), tmp_path) == observation
    assert (tmp_path / "reply.safetensors").exists()
