"""Mutable arrays and asynchronous dispatch of JAX mean what the reference says."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from conformance.backends.attribution import framework
from conformance.backends.jax import Jax, effects
from conformance.cases.case import Case
from conformance.cases.program.effects import names
from conformance.cases.program.program import Step
from tests.backends.effectful import GATHER, HALF, PROGRAMS, SCATTER, SUM, agrees, spoilt, step, written
from tests.backends.jax.conftest import counting, one_step

# JAX refuses a psum over no axis.
ALIKE = sorted(set(PROGRAMS) - {"over no axis"})
VIEW: dict[str, Any] = {"start": (1,), "stop": (8,), "step": (1,)}


def plain() -> Case:
    return one_step("all_reduce", counting((8,), 2, "int32"), op="sum")


@pytest.mark.parametrize("name", ALIKE)
def test_effects_are_those_of_eager_execution(mode: Jax, name: str) -> None:
    agrees(mode, plain(), PROGRAMS[name])


PARTS = {
    "operand and target share elements": [
        step("b = buffer x"), step("v = view b", attrs=VIEW),
        step("w = view b", attrs={**VIEW, "start": (0,), "stop": (7,)}),
        step("y = all_reduce v", **SUM, into=("w",)),
    ],
    "every second element of a view": [
        step("b = buffer x"), step("v = view b", attrs=VIEW),
        step("w = view v", attrs={"start": (0,), "stop": (7,), "step": (2,)}),
        step("h = view b", attrs={"start": (0,), "stop": (2,), "step": (1,)}),
        step("y = all_gather h", **GATHER, into=("w",)), step("c = copy v"),
    ],
    "several results, each into the other's operand": [
        step("b = buffer x"), step("c = buffer x"), step("= assign c b"), step("y = all_reduce c", **SUM, into=("c",)),
        step("z w = all_reduce b c", **SUM, into=("c", "b")),
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_a_mutable_array_are_indexed(mode: Jax, name: str) -> None:
    agrees(mode, plain(), PARTS[name])


def test_nothing_is_under_way_that_a_write_could_disturb(mode: Jax) -> None:
    steps = [
        step("b = buffer x"), step("c = buffer x"), step("v = view c", attrs=HALF["attrs"]),
        step("t = all_reduce b", **SUM, start=True), step("= assign b x"),
        step("u = reduce_scatter b", **SCATTER, into=("v",), start=True), step("d = copy c"),
        step("= assign v v"), step("y = done t"),
    ]  # fmt: skip
    agrees(mode, plain(), steps)


DONATED = [
    step("b = buffer x"), step("c = copy b"), step("t = all_reduce b", **SUM, start=True),
    step("u = all_reduce b", **SUM, into=("b",), start=True), step("d = copy b"),
    step("y = all_reduce b", **SUM, into=("b",)), step("z = done t"), step("w = done u"),
]  # fmt: skip


def test_what_is_written_in_place_alone_is_donated(mode: Jax) -> None:
    agrees(mode, plain(), DONATED)
    case = plain()
    program = msgspec.structs.replace(case.program, steps=tuple(DONATED), results=("b",))
    case = msgspec.structs.replace(case, program=program)
    from conformance.backends.jax.effects import donated

    assert donated(program, names(case)) == {"b"}
    steps = (*DONATED, step("v = view b", **HALF))
    program = msgspec.structs.replace(program, steps=steps)
    assert not donated(program, names(msgspec.structs.replace(case, program=program)))


def test_a_result_of_another_shape_is_refused_in_place(mode: Jax) -> None:
    gather = {"axes": ("i",), "attrs": {"axis": 0, "tiled": False}, "into": ("b",)}
    steps = [step("b = buffer x"), step("y = all_gather b", **gather)]
    asked = written(plain(), steps)
    seen = mode.execute(asked)
    assert {each and each.kind for each in seen.errors} == {"TypeError"}
    assert spoilt(asked, seen) == []


def test_axes_in_another_order_are_transposed(mode: Jax) -> None:
    attrs = {"start": (0, 0), "stop": (2, 3), "step": (1, 1), "order": (1, 0)}
    steps = [
        step("b = buffer x"),
        step("v = view b", attrs=attrs),
        step("y = all_reduce v", **SUM),
        step("= assign v y"),
    ]
    agrees(mode, one_step("all_reduce", counting((2, 3), 2, "int32"), op="sum"), steps)


def test_a_view_that_steps_back_is_read_and_written_the_other_way_round(mode: Jax) -> None:
    back = {"start": (1, 2), "stop": (-1, -1), "step": (-1, -2), "order": (1, 0)}
    steps = [
        step("b = buffer x"),
        step("v = view b", attrs=back),
        step("w = view b", attrs={**back, "step": (-1, -1)}),
        step("y = all_reduce v", **SUM),
        step("= assign w w"),
        step("z = all_reduce w", **SUM, into=("w",)),
    ]
    agrees(mode, one_step("all_reduce", counting((2, 3), 2, "int32"), op="sum"), steps)


def test_a_view_of_one_element_is_not_taken_for_another_of_it(mode: Jax) -> None:
    def viewed(start: int, stop: int, by: int) -> list[Step]:
        view = step("v = view b", attrs={"start": (start,), "stop": (stop,), "step": (by,)})
        return [step("b = buffer x"), view, step("y = all_gather v", **GATHER)]

    agrees(mode, plain(), viewed(0, -1, -1))
    agrees(mode, plain(), viewed(0, 1, 1))


@pytest.mark.parametrize("operand", ["b", "x"], ids=["donated", "mutable"])
def test_what_was_written_before_a_refusal_is_reported(
    mode: Jax, operand: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    nowhere = step(f"y = all_reduce {operand}", axes=("nowhere",), attrs={"op": "sum"}, into=("b",))
    asked = written(plain(), [step("b = buffer x"), nowhere])
    assert spoilt(asked, mode.execute(asked)) == []
    call = effects.Dispatch.call

    def hasty(self: effects.Dispatch, one: Step) -> Any:
        call(self, msgspec.structs.replace(one, axes=("i",)))
        with framework():
            raise ValueError("it looks at arguments when all is done")

    monkeypatch.setattr(effects.Dispatch, "call", hasty)
    assert spoilt(asked, mode.execute(asked)) == [("b", 0, 0), ("b", 1, 1)]
