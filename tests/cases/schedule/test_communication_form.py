"""What a schedule says of communication that has no meaning is an error which names the item and the reason."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from conformance.cases.schedule.builders import buffer, reads, schedule, writes
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.form import validate_schedule
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.schedule_error import ScheduleError
from conformance.qualification.violations.communication import (
    buffer_of_a_group_on_none_of_its_members,
    groups_that_differ_between_ranks,
    in_memory_that_lasts,
    pair,
    reduced,
)


def met(**said: object) -> Schedule:
    return schedule((*pair("x", preexisting=True), *pair("y")), [reduced(**said)])


def kept(**said: object) -> Schedule:
    return schedule([buffer("x"), buffer("z", **said)], [])


def traced() -> Schedule:
    own = (reads("x0", (Affine(extents=(4,), strides=(1,)),), traced=(2, 1)), reads("x1"), writes("y0"), writes("y1"))
    return met(accesses=own)


def pieces() -> Schedule:
    made = met(call="c", turns=(0, 0))
    other = reduced("s", call="c", turns=(0, 1))
    return replace(made, items=(*made.items, other))


WRONG: dict[str, tuple[Callable[[], Schedule], str]] = {
    "kind": (
        lambda: kept(communication="g", communication_kind="pinned"),
        "buffer 'z': unknown kind 'pinned'; known are symmetric, registered",
    ),
    "no group": (
        lambda: kept(communication_kind="symmetric"),
        "buffer 'z': it is symmetric, and belongs to no communicator",
    ),
    "part of an allocation": (
        lambda: kept(base="x", allocation="pool"),
        "buffer 'z': it lies in 'x', and is no allocation 'pool' of its own",
    ),
    "outside its group": (
        buffer_of_a_group_on_none_of_its_members.make,
        "buffer 'z': it is on d2, which is no member of its communicator 'g': d0, d1",
    ),
    "groups that differ": (
        groups_that_differ_between_ranks.make,
        "item 's': communicator 'g' has the members d0 here, and d0, d1 in 'r'",
    ),
    "threshold": (
        lambda: met(choice=Choice(on=True, threshold=-1)),
        "item 'r': a threshold of -1 bytes; it is 0 at least",
    ),
    "one algorithm of two": (lambda: met(algorithms=("ring",)), "item 'r': 1 algorithms for 2 participants"),
    "algorithm": (lambda: met(algorithms=("ring", "star")), "item 'r': unknown algorithm 'star'; known are naive"),
    "strides": (traced, "item 'r', access 0: 2 strides when traced, of no map of that rank"),
    "turns of one call": (pieces, "item 's': it is"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_has_no_meaning_is_named(name: str) -> None:
    make, words = WRONG[name]
    with pytest.raises(ScheduleError) as caught:
        validate_schedule(make())
    assert caught.value.clause == "form.C13"
    assert words in str(caught.value)


def test_what_is_left_out_says_nothing() -> None:
    validate_schedule(in_memory_that_lasts())
    validate_schedule(met())
