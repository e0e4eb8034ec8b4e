"""Right schedules with memory of communicators, and collectives that are called in unusual ways; and wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import buffer, elementwise, line, opaque, reads, schedule, writes
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.schedule import Access, Collective, Schedule
from conformance.qualification.violations.communication import (
    computed,
    each_buffer,
    in_memory_that_lasts,
    pair,
    reduced,
)
from conformance.qualification.violations.communication_calls import strided
from conformance.specs.schedules import judge, judge_two

SHOT = ("one_shot", "one_shot")


def changed(made: Schedule, **fields: Any) -> Schedule:
    return replace(made, items=tuple(replace(e, **fields) if isinstance(e, Collective) else e for e in made.items))


def shaped() -> Schedule:
    return each_buffer(in_memory_that_lasts(), lambda each: replace(each, shape=(4,)) if each.communication else each)


def seen_in_part() -> Schedule:
    """Return the sum of views of all of each buffer of the communicator."""
    made = in_memory_that_lasts()
    own = [each for each in made.buffers if each.communication]
    views = tuple(replace(each, id=f"v{each.id}", base=each.id, offset=0, planned=False) for each in own)
    *first, last = made.items
    read = tuple(reads(f"vx{d}", line()) for d in range(2))
    assert isinstance(last, Collective)
    shot = replace(last, accesses=(*read, *last.accesses[2:]))
    return replace(made, buffers=(*made.buffers, *views), items=(*first, shot))


def kept_before_it_is_overwritten() -> Schedule:
    """Return a sum in place of one buffer of the communicator, of a value that another one still has."""
    own = {"communication": "g", "communication_kind": "symmetric"}
    moves = [elementwise(f"m{d}", "move", f"z{d}", f"x{d}", device=f"d{d}") for d in range(2)]
    last = [elementwise(f"y{d}", "add", f"y{d}", f"z{d}", f"x{d}", device=f"d{d}") for d in range(2)]
    buffers = (*pair("a", preexisting=True), *pair("x", **own), *pair("z", **own), *pair("y", output=True))
    return schedule(buffers, [*computed(), *moves, reduced(target="x"), *last])


def coalesced(word: str = "ring", calls: tuple[str, str] = ("c", "c")) -> Schedule:
    items = [
        reduced(f"r{n}", source, target, algorithm=word, call=call, steps=(0,), turns=(0, 0))
        for n, (source, target, call) in enumerate(zip("xv", "yu", calls, strict=True))
    ]
    return schedule((*pair("x", "v", preexisting=True), *pair("y", "u", output=True)), items)


def copied_alone() -> Schedule:
    buffers = (*pair("a", preexisting=True), *pair("x", unfused=True), *pair("y", output=True))
    return schedule(buffers, (*computed(), reduced()))


def of_an_input_that_is_moved() -> Schedule:
    """Return a sum that is not done in one shot: what it is of is an input, copied to be overwritten."""
    moves = [elementwise(f"m{d}", "move", f"x{d}", f"a{d}", device=f"d{d}") for d in range(2)]
    ring = reduced(target="x", algorithm="ring", algorithms=("ring",) * 2, choice=Choice(on=True, threshold=64))
    last = [elementwise(f"y{d}", "add", f"y{d}", f"x{d}", 1.0, device=f"d{d}") for d in range(2)]
    return schedule((*pair("a", preexisting=True), *pair("x"), *pair("y", output=True)), [*moves, ring, *last])


@pytest.mark.parametrize(("choice", "said"), [(None, "broken"), (Choice(on=True, threshold=64), "silent")])
def test_communication_c15_is_not_about_given_operands_of_a_known_choice(choice: Choice | None, said: str) -> None:
    items = [
        reduced(algorithm="ring", choice=choice),
        reduced("s", target="u", algorithm="naive", choice=choice),
    ]
    made = schedule((*pair("x", preexisting=True), *pair("y", "u")), items)
    assert next(each.finding for each in judge(made) if each.clause == "communication.C15") == said


def of_a_part_of_each_buffer(*, in_parts: bool = False) -> Schedule:
    """Return a sum of the first 16 of the 64 bytes of each buffer of the communicator."""
    made = each_buffer(in_memory_that_lasts(), lambda each: replace(each, size=64) if each.communication else each)
    own = tuple(Access(buffer=f"x{d}", ranges=((0, 16),)) for d in range(2))
    parts = tuple(opaque(f"p{d}", *own, writes(f"y{d}"), device=f"d{d}") for d in range(2)) if in_parts else ()
    whole = () if in_parts else (*own, writes("y0"), writes("y1"))
    return changed(made, parts=parts, accesses=whole, choice=Choice(on=True, threshold=16))


def off_with_operands_of_other_sizes() -> Schedule:
    (*_, last) = in_memory_that_lasts().items
    assert isinstance(last, Collective)
    return changed(
        in_memory_that_lasts(), choice=Choice(on=False, threshold=64),
        accesses=(last.accesses[0], reads("x1", line(3)), *last.accesses[2:]),
    )  # fmt: skip


def from_one_root() -> Schedule:
    """Return a broadcast of symmetric memory of the root alone."""
    own = buffer("x0", communication="g", communication_kind="symmetric")
    item = Collective(
        id="b", op="broadcast", attrs={"root": 0}, participants=("d0", "d1"), group="g",
        accesses=(reads("x0"), writes("y0"), writes("y1")),
    )  # fmt: skip
    return schedule((*pair("a", preexisting=True), own, *pair("y", output=True)), [computed()[0], item])


def in_two_groups() -> Schedule:
    """Return sums of two communicators, each in memory of its own, of kinds of their own."""
    first = in_memory_that_lasts()
    own = tuple(
        buffer(f"v{d}", device=f"d{d}", allocation=f"other {d}", communication="h", communication_kind="registered")
        for d in range(2)
    )
    again = reduced("s", "v", "u", group="h", algorithm="one_shot")
    buffers = (*first.buffers, *own, *pair("u", output=True))
    return replace(first, buffers=buffers, items=(*first.items, *computed("v"), again))


def registered_at_other_offsets() -> Schedule:
    made = in_memory_that_lasts()
    other = each_buffer(made, lambda each: replace(each, offset=16) if each.id == "x1" else each)
    return each_buffer(
        other, lambda each: replace(each, communication_kind="registered") if each.communication else each
    )


def above_the_threshold() -> Schedule:
    made = in_memory_that_lasts()
    plain = each_buffer(made, lambda each: replace(each, communication="", communication_kind=""))
    return changed(plain, algorithm="ring", algorithms=("ring",) * 2, choice=Choice(on=True, threshold=15))


def given_in_symmetric_memory() -> Schedule:
    """Return the sum of what the caller put into memory that its peers address, and that it keeps."""
    own = tuple(
        buffer(
            f"x{d}", device=f"d{d}", communication="g", communication_kind="symmetric", allocation=f"user {d}",
            preexisting=True, held=True,
        )
        for d in range(2)
    )  # fmt: skip
    return schedule((*own, *pair("y", output=True)), [reduced(algorithm="one_shot")])


def message_between_two_of_three() -> Schedule:
    """Return a sum of three members of a communicator, two of which exchange a message there."""
    devices = ("d0", "d1", "d2")
    own = tuple(buffer(f"{name}{d}", device=f"d{d}", preexisting=name == "x") for name in "xyz" for d in range(3))
    met = (*(reads(f"x{d}") for d in range(3)), *(writes(f"y{d}") for d in range(3)))
    sent = (reads("x0"), writes("z0"), writes("z1"))
    return schedule(own, [
        Collective(id="r", op="all_reduce", attrs={"op": "sum"}, participants=devices, group="g", accesses=met),
        Collective(
            id="m", op="permute", attrs={"pairs": ((0, 1),)}, participants=devices[:2], group="g", accesses=sent,
        ),
    ])  # fmt: skip


LEGAL: dict[str, Callable[[], Schedule]] = {
    "symmetric memory that lasts": in_memory_that_lasts,
    "allocations named alike on all": lambda: in_memory_that_lasts(16),
    "a known shape": shaped,
    "bytes of a larger buffer": of_a_part_of_each_buffer,
    "parts that read bytes of a larger buffer": lambda: of_a_part_of_each_buffer(in_parts=True),
    "a view of it": seen_in_part,
    "kept before it is overwritten": kept_before_it_is_overwritten,
    "several operands in one call": coalesced,
    "a copy that is not fused": copied_alone,
    "an input that is moved": of_an_input_that_is_moved,
    "memory of the root alone": from_one_root,
    "two communicators": in_two_groups,
    "registered at other offsets": registered_at_other_offsets,
    "more bytes than the threshold": above_the_threshold,
    "one shot that is off": lambda: changed(above_the_threshold(), choice=Choice(on=False, threshold=64)),
    "strides as when traced": lambda: strided((1, 2), (1, 2), traced=(1, 2), write=False),
    "made contiguous": lambda: strided((3, 1), (3, 1), traced=(1, 2), write=False),
    "in place of columns on all": lambda: strided((1, 2), (1, 2)),
    "given in symmetric memory": given_in_symmetric_memory,
    "a message between two of three": message_between_two_of_three,
    "other strides out of place": lambda: strided((4, 1), (1, 2), write=False),
    "algorithms of which nothing is known": lambda: changed(
        in_memory_that_lasts(), algorithms=("", ""), algorithm="", choice=None
    ),
}


@pytest.mark.parametrize("name", LEGAL)
def test_what_is_right_breaks_nothing(name: str) -> None:
    assert [each for each in judge(LEGAL[name]()) if each.finding == "broken"] == []


def view_of_another_group() -> Schedule:
    made = seen_in_part()
    plain = {"communication": "", "communication_kind": ""}
    return each_buffer(made, lambda each: replace(each, **plain) if each.id.startswith("v") else each)


WRONG: dict[str, tuple[Callable[[], Schedule], str]] = {
    "memory of another group through a view": (
        lambda: changed(view_of_another_group(), group="h", choice=None), "communication.C3",
    ),
    "one shot though it is off": (
        lambda: changed(in_memory_that_lasts(), choice=Choice(on=False, threshold=64)), "communication.C12",
    ),
    "one shot of operands of other sizes though it is off": (off_with_operands_of_other_sizes, "communication.C12"),
    "one rank of two without one shot": (
        lambda: changed(in_memory_that_lasts(), algorithms=("one_shot", "direct")), "communication.C14",
    ),
    "two pieces of one call in one shot": (lambda: coalesced("one_shot"), "communication.C16"),
    "one of two pieces in a call of its own": (lambda: coalesced(calls=("c", "")), "communication.C17"),
    "columns with gaps in place": (lambda: strided((1, 3), (1, 3)), "communication.C20"),
    "elements on top of each other in place": (lambda: strided((0, 1), (0, 1)), "communication.C20"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_breaks_its_clause(name: str) -> None:
    make, clause = WRONG[name]
    assert clause in {each.clause for each in judge(make()) if each.finding == "broken"}


def test_an_iteration_that_lies_where_the_first_did_is_right() -> None:
    (found, *_) = judge_two(in_memory_that_lasts(), in_memory_that_lasts(), "rerun")
    assert (found.clause, found.finding) == ("communication.C10", "held")


def test_programs_with_pools_or_bytes_of_their_own_are_neighbours() -> None:
    for other in (in_memory_that_lasts(name="other"), in_memory_that_lasts(32)):
        found = judge_two(in_memory_that_lasts(), other, "neighbours")
        assert {each.clause: each.finding for each in found}["communication.C11"] == "held"


@pytest.mark.parametrize(("in_parts", "said"), [(True, "held"), (False, "broken")])
def test_parts_alone_may_take_a_copy_in_the_place_of_a_buffer_of_the_communicator(in_parts: bool, said: str) -> None:
    made = in_memory_that_lasts()
    *first, last = made.items
    assert isinstance(last, Collective)
    used = tuple(replace(each, buffer="z1") if each.buffer == "x1" else each for each in last.accesses)
    copied = elementwise("z1", "move", "z1", "x1", device="d1")
    own = tuple(opaque(f"p{d}", *used[:2], used[2 + d], device=f"d{d}") for d in range(2))
    met = replace(last, accesses=() if in_parts else used, parts=own if in_parts else ())
    other = replace(made, buffers=(*made.buffers, buffer("z1", device="d1")), items=(*first, copied, met))
    assert next(each.finding for each in judge(other) if each.clause == "communication.C7") == said
