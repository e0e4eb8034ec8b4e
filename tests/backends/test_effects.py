"""What the protocol of a backend does about effects for a vendor who works on NumPy's memory."""

from __future__ import annotations

import numpy as np
import pytest

from conformance.backends.base import Backend
from conformance.backends.reference import Reference
from conformance.cases.case import Case, Operand
from conformance.cases.program.program import Axis, Groups, Program, Step
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import from_array

Blocks = list[Array]


class Vendor(Backend):
    """Adds up, in place too, and starts what it waits for later."""

    def all_reduce(self, blocks: Blocks, *, op: str, groups: Groups, out: Blocks | None = None) -> Blocks:
        assert (op, len(groups)) == ("sum", 1)
        total = sum(blocks)
        if out is None:
            return [np.array(total) for _ in blocks]
        for block in out:
            block[...] = total
        return out

    def start_all_reduce(self, blocks: Blocks, **keywords: object) -> Blocks:
        return self.all_reduce(blocks, **keywords)

    def wait(self, ticket: Blocks) -> Blocks:
        return ticket


class Beside(Vendor):
    """Writes the element beside its block."""

    def all_reduce(self, blocks: Blocks, *, op: str, groups: Groups, out: Blocks | None = None) -> Blocks:
        assert out is not None
        base = out[1].base
        assert base is not None
        base[-1] = 7  # its last byte
        return super().all_reduce(blocks, op=op, groups=groups, out=out)


def case(*steps: tuple[str, str, str, dict[str, object]], results: tuple[str, ...], layout: str = "strided") -> Case:
    """Return a program on the input x: two elements on each of two ranks."""
    made = tuple(
        Step(op=op, inputs=tuple(i.split()), outputs=tuple(o.split()), **{"axes": (), **more})
        for op, i, o, more in (("buffer", "x", "b", {}), *steps)
    )
    blocks = tuple(from_array(np.array([1, 2], np.int32) + rank) for rank in range(2))
    operand = Operand(blocks=blocks, layouts=(layout, layout))
    return Case(program=Program(mesh=(Axis("i", 2),), steps=made, results=results), inputs={"x": operand})


SUM: dict[str, object] = {"axes": ("i",), "attrs": {"op": "sum"}}
VIEW: dict[str, object] = {"attrs": {"start": (1,), "stop": (-1,), "step": (-1,)}}
IN_PLACE = ("all_reduce", "b", "y", {**SUM, "into": ("b",)})
STARTED = ("all_reduce", "b", "t", {**SUM, "start": True})
PROGRAMS = (
    case(IN_PLACE, ("assign", "b x", "", {}), results=("y", "b")),
    case(("view", "b", "v", VIEW), ("assign", "b v", "", {}), ("all_reduce", "v", "y", SUM), results=("y", "b")),
    case(STARTED, ("done", "t", "y", {}), ("copy", "b", "c", {}), ("free", "b", "", {}), results=("y", "c")),
    case(("all_reduce", "b x", "y z", {**SUM, "into": ("b", "b"), "axes": ()}), results=("y", "z")),
    case(("all_reduce", "b", "t", {"attrs": {"op": "sum"}, "start": True}), ("done", "t", "y", {}), results=("y",)),
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_protocol_gives_a_vendor_real_storage(program: Case) -> None:
    seen, right = Vendor().execute(program), Reference().execute(program)
    assert (seen.results, seen.errors, seen.touched) == (right.results, (), ())


def test_what_is_written_around_a_buffer_is_seen() -> None:
    (touch,) = Beside().execute(case(IN_PLACE, results=("b",))).touched
    assert (touch.input, touch.rank, touch.index, touch.after) == ("b", 1, 3, "a5a5a507")


def test_what_does_not_fit_is_refused_over_no_axis_too() -> None:
    part = {"attrs": {"start": (0,), "stop": (1,), "step": (1,)}}
    step = ("all_reduce", "b", "y", {**SUM, "axes": (), "into": ("v",)})
    assert Vendor().execute(case(("view", "b", "v", part), step, results=("y",))).raised


def test_starting_is_no_operation_to_claim() -> None:
    assert Vendor().claims == {"all_reduce": {}}
