"""Schedules whose collectives are called wrongly: by which algorithm, on which layouts, of how many operands."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from conformance.cases.schedule.builders import (
    buffer,
    elementwise,
    graph,
    line,
    node,
    reads,
    schedule,
    stored,
    writes,
)
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.schedule import Collective, Item, Schedule, Wait
from conformance.qualification.violations.communication import computed, in_memory_that_lasts, pair, reduced
from conformance.qualification.violations.violation import violates


def _shot(**changed: Any) -> Schedule:
    """Return the sum in one shot, with something else said of it."""
    made = in_memory_that_lasts()
    return replace(made, items=tuple(replace(e, **changed) if isinstance(e, Collective) else e for e in made.items))


@violates("communication.C12")
def one_shot_above_the_threshold() -> Schedule:
    """The threshold is compared with elements where it is one of bytes."""
    return _shot(choice=Choice(on=True, threshold=15))


@violates("communication.C12")
def one_shot_of_another_reduction() -> Schedule:
    """One shot, which only sums, is taken for a maximum."""
    return _shot(attrs={"op": "max"})


@violates("communication.C12")
def one_shot_of_plain_memory() -> Schedule:
    """Peers are told to read memory that was never registered with their group."""
    made = in_memory_that_lasts()
    plain = (replace(each, communication="", communication_kind="") for each in made.buffers)
    return replace(made, buffers=tuple(plain))


@violates("communication.C13")
def ring_at_the_threshold() -> Schedule:
    """The threshold is taken for the first size that is too large, and is the last that is not."""
    return _shot(algorithm="ring", algorithms=("ring", "ring"))


@violates("communication.C14")
def algorithms_that_differ_between_ranks() -> Schedule:
    """Each rank measures and chooses by itself: one enters a ring that the other is not in, and waits for ever."""
    return _shot(algorithm="", algorithms=("one_shot", "ring"), choice=None)


@violates("communication.C15")
def another_algorithm_the_second_time() -> Schedule:
    """An algorithm is chosen by what else is under way, so that equal sums are done by two."""
    items = [reduced(algorithm="ring"), reduced("s", target="u", algorithm="tree")]
    return schedule((*pair("x", preexisting=True), *pair("y", "u")), items)


def _called(*calls: str, word: str = "ring") -> Schedule:
    """Return the sums of two operands of one step of a program."""
    items = [
        reduced(f"r{n}", source, target, algorithm=word, call=call, steps=(0,))
        for n, (source, target, call) in enumerate(zip("xv", "yu", calls, strict=True))
    ]
    return schedule((*pair("x", "v", preexisting=True), *pair("y", "u", output=True)), items)


@violates("communication.C16")
def several_operands_in_one_shot() -> Schedule:
    """A coalesced sum is done in one shot, which has a form for one operand."""
    return _called("both", "both", word="one_shot")


@violates("communication.C17")
def coalesced_sum_in_two_calls() -> Schedule:
    """A coalesced sum is lowered operand by operand, and begins twice."""
    return _called("", "")


@violates("communication.C18")
def fused_though_it_is_not_to_be() -> Schedule:
    """The copy for an early sum is fused with work that ends late, and the sum begins when that is done."""
    buffers = (*pair("a", preexisting=True), *pair("x", unfused=True), *pair("b"), *pair("y", output=True))
    both = []
    for kernel in computed():
        load, one, add, store = kernel.bodies[0].instructions
        body = replace(kernel.bodies[0], instructions=(load, one, add, store, replace(store, access=2)))
        into = writes(f"b{kernel.device[1]}", line())
        both.append(replace(kernel, accesses=(*kernel.accesses, into), bodies=(body,)))
    return schedule(buffers, (*both, reduced()))


def strided(*strides: tuple[int, int], traced: tuple[int, int] | None = None, write: bool = True) -> Schedule:
    """Return the sum of matrices of two times three elements, one a device, in place or to buffers of their own."""
    own = []
    for d, stride in enumerate(strides):
        own.append(reads(f"x{d}", (Affine(extents=(2, 3), strides=stride),), traced=traced))
    into = (replace(each, write=True, traced=None) for each in own) if write else (writes(f"y{d}") for d in range(2))
    buffers = (*pair("x", count=12, held=True, preexisting=True), *pair("y", count=6, output=True))
    return schedule(buffers, [reduced(accesses=(*own, *into))])


@violates("communication.C19")
def laid_out_anew_after_tracing() -> Schedule:
    """A pass turns the layout of a value after tracing, and the collective gathers its rows in another order."""
    return strided((1, 2), (1, 2), traced=(4, 1), write=False)


@violates("communication.C20")
def in_place_of_rows_with_gaps() -> Schedule:
    """A sum in place of a slice runs over the elements between its rows."""
    return strided((6, 1), (6, 1))


@violates("communication.C20")
def in_place_of_another_order_on_each_rank() -> Schedule:
    """One rank keeps its block transposed, and sums its columns with the rows of the other."""
    return strided((3, 1), (1, 2))


def _started(*, waits: bool) -> Schedule:
    """Return a sum that is started, and waited for or not."""
    items: list[Item] = [reduced(handle="h"), *([Wait(id="w", handle="h")] if waits else [])]
    return schedule((*pair("x", preexisting=True), *pair("y", output=True)), items)


@violates("communication.C21")
def wait_left_out_for_an_earlier_program() -> tuple[Schedule, Schedule]:
    """Which waits are left out is kept by the address of a graph, at which another one lies later."""
    return _started(waits=True), _started(waits=False)


def _doubled(op: str) -> Schedule:
    """Return the schedule of a doubled value, which adds or does something else."""
    kernel = elementwise("k", op, writes("y", line(), node="y"), "a", "a", provenance=("y",))
    asked = graph(stored("a"), node("y", "alu", "a", "a", arg="add"), results=["y"])
    return schedule((buffer("a", preexisting=True), buffer("y")), [kernel], asked, {"y": "y"})


@violates("communication.C22")
def pass_changes_values() -> tuple[Schedule, Schedule]:
    """A pass that joins collectives, and that is off by default, gives one the operands of another.

    Seen in PyTorch #175812.
    """
    return _doubled("add"), _doubled("mul")


@violates("communication.C23")
def order_by_measurement() -> tuple[Schedule, Schedule]:
    """Collectives are ordered by what each rank measured, and two ranks enter them in opposite orders."""
    made = (reduced(turns=(0, 1)), reduced("s", target="u", turns=(1, 0)))
    alike = tuple(replace(each, turns=(n, n)) for n, each in enumerate(made))
    buffers = (*pair("x", preexisting=True), *pair("y", "u", output=True))
    return schedule(buffers, alike), schedule(buffers, made)
