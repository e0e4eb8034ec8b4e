"""What programs on sharded tensors say in several steps means what the word that frameworks have for it means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from conformance.cases.program.program import Axis
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import to_array
from conformance.generate import choices
from conformance.generate.choices import Draw
from conformance.generate.graphs.graph_draft import GraphDraft, Swarm
from conformance.generate.sharded import compositions
from conformance.generate.sharded.programs import Program
from conformance.judging.sharded.subject import sharded_meaning
from conformance.runner.draws import numbered


def drawn(use: Callable[[Program], bool]) -> tuple[list[Array], Array]:
    """Return the buffers of a program whose head is one of three rows, and what a use makes of that."""

    @choices.composite
    def programs(draw: Draw) -> Program:
        swarm = Swarm(("float32",), (), (), (), "real", True)
        program = Program(GraphDraft(draw, swarm), (Axis("i", 3),), (0, 1, 2), plain=False)
        program.asked.head = program.buffer((3, 2), "float32")
        assert use(program)
        program.asked.wanted = [program.asked.head.id]
        program.asked.close(())
        return program

    program = numbered(programs(), 0, 0)[0]
    (worth,) = sharded_meaning(program.case()).expected.values()
    return [to_array(held) for held in program.asked.buffers.values()], worth.array


def test_a_softmax_sums_to_one_along_an_axis() -> None:
    (rows,), made = drawn(compositions.softmax)
    powers = [np.exp2(rows - rows.max(axis, keepdims=True)) for axis in (0, 1)]
    ways = [each / each.sum(axis, keepdims=True) for axis, each in enumerate(powers)]
    assert any(np.allclose(way, made) for way in ways)


def test_a_norm_divides_by_the_length() -> None:
    (rows,), made = drawn(compositions.norm)
    assert any(np.allclose(rows / np.linalg.norm(rows, axis=axis, keepdims=True), made) for axis in (0, 1))


def test_a_product_is_one_of_matrices() -> None:
    (one, two), made = drawn(compositions.product)
    pairs = [(a, b) for a, b in ((one, two), (two, one)) if a.shape[1] == b.shape[0]]
    assert any(np.allclose(a @ b, made) for a, b in pairs if (a @ b).shape == made.shape)


@pytest.mark.parametrize("use", [compositions.selected, compositions.cloned])
def test_what_is_selected_or_cloned_is_what_it_was(use: Callable[[Program], bool]) -> None:
    (rows, *_), made = drawn(use)
    assert np.array_equal(rows, made)


def test_slices_are_stacked() -> None:
    (rows,), made = drawn(compositions.stacked)
    assert len(made) > 1
    ways = [np.concatenate(list(made), axis=axis) for axis in (0, 1)]
    assert any(np.array_equal(way, rows[: way.shape[0], : way.shape[1]]) for way in ways)


def test_what_is_joined_is_as_long_as_both() -> None:
    (one, two), made = drawn(compositions.joined)
    assert made.size == one.size + two.size


def test_elements_are_scattered_to_the_rows_that_indices_number() -> None:
    (rows, index), made = drawn(compositions.scattered)
    sums, most = np.zeros_like(made), np.zeros_like(made)
    np.add.at(sums, index, rows)
    np.maximum.at(most, index, rows)
    assert np.allclose(made, sums) or np.array_equal(made, most)
