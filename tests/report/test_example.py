"""Failing cases made readable."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from conformance.cases.case import Case, Operand, case_id
from conformance.cases.codec import load, save
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.report.failures.case_example import example, read_example
from conformance.report.failures.program_example import inline
from conformance.report.failures.values import written


def gather(axis: int = 0) -> Case:
    step = Step(
        op="all_gather",
        inputs=("x",),
        outputs=("y",),
        axes=("i",),
        groups=((1, 0),),
        attrs={"axis": axis, "tiled": True},
    )
    blocks = tuple(from_array(np.array([value, -0.0], np.float32)) for value in (1, 2.5))
    return Case(
        program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "flipped"))},
    )


def test_program_inputs_and_expected_values_are_shown() -> None:
    shown = example(gather())
    assert shown.steps == ("y = all_gather(x, axis=0, tiled=true) over i, groups {1 0}", "return y")
    assert [(b.ranks, b.layout, b.values) for b in shown.inputs[0].blocks] == [
        ("0", "contiguous", "[1, -0]"),
        ("1", "flipped", "[2.5, -0]"),
    ]
    assert [(b.ranks, b.values) for b in shown.expected[0].blocks] == [("0-1", "[2.5, -0, 1, -0]")]


def test_a_program_without_meaning_shows_its_rejection() -> None:
    shown = example(gather(axis=5))
    assert shown.expected == ()
    assert shown.rejection.startswith("all_gather.C5: axis 5 is outside")


def test_the_carried_file_is_a_case_file(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text(inline(gather()))
    assert load(tmp_path / "case.json") == gather()


def test_a_file_that_holds_another_case_is_told(tmp_path: Path) -> None:
    save(gather(), tmp_path / "case.json")
    assert read_example(tmp_path, "case.json", case_id(gather())).problem is None
    assert "the log says other/x/1" in read_example(tmp_path, "case.json", "other/x/1").problem


@pytest.mark.parametrize("file", ["../case.json", "/etc/passwd", ".", "missing.json"])
def test_a_file_outside_the_run_or_missing_is_never_read(tmp_path: Path, file: str) -> None:
    (tmp_path / "run").mkdir()
    save(gather(), tmp_path / "case.json")
    shown = read_example(tmp_path / "run", file, case_id(gather()))
    assert shown.world == 0
    assert shown.source is None
    assert str(tmp_path) not in shown.problem


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.array(3, np.int32), "3"),
        (np.array([True, False]), "[true, false]"),
        (np.array([2], np.uint8).view(bool), "[bool(0x02)]"),
        (np.array([0.1, np.inf, np.nan], ml_dtypes.bfloat16), "[0.100098, inf, nan]"),
        (np.array([0x7FC00001], np.uint32).view(np.float32), "[nan(0x7fc00001)]"),
        (np.zeros((2, 0)), "[[], []]"),
        (np.array([0x3F8000007FC00001], np.uint64).view(np.complex64), "[(nan(0x7fc00001)+1j)]"),
    ],
)
def test_elements_are_written_so_that_nothing_is_hidden(array: np.ndarray, text: str) -> None:
    assert written(array) == text


def test_a_long_block_shows_its_beginning() -> None:
    assert written(np.zeros(100, np.uint8)).endswith("0, … 36 more")
