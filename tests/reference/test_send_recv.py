"""What a recv takes of a send: the blocks of the same pairs of ranks, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.reference.rejection import Rejected
from conformance.reference.spmd import evaluate


def received(send: tuple[str, ...], recv: tuple[str, ...], *groups: Groups | None, back: bool = False) -> list[int]:
    """Return what four ranks of a mesh i = 2, j = 2, k = 1 receive of position 0, each of which has its number."""
    pairs = ((0, 1), (1, 0))
    of, to = groups or (None, None)
    attrs = {"pairs": pairs[::-1] if back else pairs, "shape": (), "dtype": "int32"}
    steps = (
        Step(op="send", inputs=("x",), outputs=("t",), axes=send, groups=of, attrs={"pairs": pairs}),
        Step(op="recv", inputs=("t",), outputs=("y",), axes=recv, groups=to, attrs=attrs),
    )
    operand = Operand(blocks=tuple(from_array(np.int32(rank)) for rank in range(4)), layouts=("contiguous",) * 4)
    program = Program(mesh=(Axis("i", 2), Axis("j", 2), Axis("k", 1)), steps=steps, results=("y",))
    return [int(block) for block in evaluate(Case(program=program, inputs={"x": operand}))["y"] if block is not None]


def test_a_recv_takes_what_was_sent_among_the_same_ranks() -> None:
    assert received(("i",), ("i",)) == [2, 3, 0, 1]
    assert received(("i",), ("i", "k")) == [2, 3, 0, 1]
    assert received(("i", "j"), ("j",), ((0, 1), (2, 3)), None) == [1, 0, 3, 2]


@pytest.mark.parametrize(
    ("send", "recv", "groups"),
    [(("i",), ("j",), ()), (("i", "j"), ("i", "j"), (((0, 1), (2, 3)), ((0, 2), (1, 3)))), (("i",), (), ())],
)
def test_c4_refuses_a_recv_among_other_ranks(
    send: tuple[str, ...], recv: tuple[str, ...], groups: tuple[Groups, ...]
) -> None:
    with pytest.raises(Rejected) as raised:
        received(send, recv, *groups)
    assert raised.value.clause == "recv.C4"


def test_c4_refuses_pairs_in_another_order() -> None:
    with pytest.raises(Rejected, match="expected along"):
        received(("i",), ("i",), back=True)
