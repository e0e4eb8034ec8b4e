"""What is copied where it is, or to some devices alone, is what it was."""

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
from conformance.generate.sharded.programs import Program
from conformance.generate.sharded.steps import cloned, selected
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


@pytest.mark.parametrize("use", [selected, cloned])
def test_what_is_selected_or_cloned_is_what_it_was(use: Callable[[Program], bool]) -> None:
    (rows, *_), made = drawn(use)
    assert np.array_equal(rows, made)
