"""What a recv and a ragged exchange refuse: tokens and tables that do not fit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

RING = ((0, 1), (1, 0))


@pytest.mark.parametrize(
    ("receive", "says"),
    [
        ({"shape": (3,)}, "is expected; both must be the same"),
        ({"dtype": "int64"}, "int64"),
        ({"dtype": "int3"}, "unknown dtype 'int3'"),
        ({"pairs": ((0, 1),)}, "without a partner"),
    ],
)
def test_a_recv_takes_only_what_was_sent(receive: Any, says: str, opencl: Any, make_program: Any) -> None:
    wanted = {"pairs": RING, "shape": (2,), "dtype": "int32", **receive}
    steps = [("send", ("x",), ("token",), {"pairs": RING}), ("recv", ("token",), ("y",), wanted)]
    seen = opencl().execute(make_program({"i": 2}, {"x": [np.zeros(2, np.int32)] * 2}, steps, ("y",)))
    assert seen.errors[1].kind == "TransferMismatchError"
    assert says in seen.errors[1].message


def test_a_recv_takes_nothing_that_was_sent_along_another_axis(opencl: Any, make_program: Any) -> None:
    program = make_program(
        {"i": 2, "j": 2},
        {"x": [np.zeros(2, np.int32)] * 4},
        [
            ("send", ("x",), ("token",), {"pairs": RING}),
            ("recv", ("token",), ("y",), {"pairs": RING, "shape": (2,), "dtype": "int32"}),
        ],
        ("y",),
    )
    send, recv = (replace(step, axes=axes) for step, axes in zip(program.program.steps, ("i", "j"), strict=True))
    seen = opencl().execute(replace(program, program=replace(program.program, steps=(send, recv))))
    assert seen.errors[1].kind == "TransferMismatchError"
    assert "the pairs are of other ranks there" in seen.errors[1].message


def test_a_token_is_no_block_and_no_result(opencl: Any, make_program: Any) -> None:
    send = ("send", ("x",), ("token",), {"pairs": RING})
    gather = ("gather", ("x",), ("g",), {"root": 0, "axis": 0, "tiled": True})

    def error(results: tuple[str, ...], *steps: Any) -> Any:
        blocks = {"x": [np.zeros(2, np.int32)] * 2}
        return opencl().execute(make_program({"i": 2}, blocks, list(steps), results)).errors[0]

    assert error((), send, ("broadcast", ("token",), ("y",), {"root": 0})).kind == "WrongValueError"
    assert error(("token",), send).kind == "WrongValueError"
    held = error((), gather, ("broadcast", ("g",), ("y",), {"root": 0}))
    assert (held.kind, "rank 1 holds nothing" in held.message) == ("WrongValueError", True)


TABLES = {"input_offsets": [0, 1], "send_sizes": [1, 1], "output_offsets": [0, 1], "recv_sizes": [1, 1]}


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"send_sizes": np.ones(2, np.float32)}, "SliceTablesError", "send_sizes must hold integers"),
        ({"recv_sizes": np.ones((1, 2), np.int32)}, "SliceTablesError", "must have one axis"),
        ({"recv_sizes": np.ones(0, np.int32)}, "SliceTablesError", "must have one axis"),
        ({"recv_sizes": np.ones(4, np.int32)}, "SliceTablesError", "must have one length"),
        ({"recv_sizes": np.array([1, 2])}, "SliceTablesError", "which expects"),
        ({"input_offsets": np.array([0, 2])}, "SliceOutOfRangeError", "the 2 rows of the operand"),
        ({"output_offsets": np.array([-1, 0])}, "SliceOutOfRangeError", "of the output"),
        ({"output": np.zeros((2, 1), np.int32)}, "BlocksDifferError", "must agree"),
        ({"output": np.zeros(2, np.int16)}, "BlocksDifferError", "must agree"),
    ],
)
def test_ragged_tables_must_fit(changed: Any, error: str, says: str, opencl: Any, make_program: Any) -> None:
    rows = {"operand": np.zeros(2, np.int32), "output": np.zeros(2, np.int32)}
    given = {**rows, **{name: np.array(table, np.int32) for name, table in TABLES.items()}, **changed}
    blocks = {name: [array, array] for name, array in given.items()}
    case = make_program({"i": 2}, blocks, [("ragged_all_to_all", tuple(given), ("y",), {})], ("y",))
    seen = opencl().execute(case)
    assert (seen.errors[0].kind, says in seen.errors[0].message) == (error, True)
