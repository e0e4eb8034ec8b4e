"""Schedules whose buffers of a communicator are wrong: what became one, who uses it, and where it lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from conformance.cases.graph.buffer import Bounds, Buffer
from conformance.cases.schedule.builders import buffer, elementwise, line, reads, schedule, writes
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.schedule import Collective, Kernel, Schedule
from conformance.qualification.violations.violation import violates

DEVICES = ("d0", "d1")
ARENA = 64


def pair(*names: str, **flags: Any) -> tuple[Buffer, ...]:
    """Return a buffer of each name on each of two devices."""
    return tuple(buffer(f"{name}{d}", device=f"d{d}", **flags) for name in names for d in range(2))


def reduced(id: str = "r", source: str = "x", target: str = "y", **rest: Any) -> Collective:
    """Return an all_reduce of two devices in one call."""
    own = (*(reads(f"{source}{d}", line()) for d in range(2)), *(writes(f"{target}{d}") for d in range(2)))
    kept: dict[str, Any] = {"group": "g", "accesses": own, **rest}
    return Collective(id=id, op="all_reduce", attrs={"op": "sum"}, participants=DEVICES, **kept)


def computed(target: str = "x", **rest: Any) -> tuple[Kernel, ...]:
    """Return the kernels that add one to what each device is given."""
    return tuple(
        elementwise(f"{target}{d}", "add", f"{target}{d}", f"a{d}", 1.0, device=f"d{d}", **rest) for d in range(2)
    )


def in_memory_that_lasts(offset: int = 0, name: str = "pool", size: int = ARENA) -> Schedule:
    """Return x = a + 1 on each device, and y as the sum of the x, which lie in symmetric memory that lasts.

    The sum is done in one shot, as a setting for as many bytes as there are lets it be.
    """
    pools = tuple(buffer(f"{name}{d}", size, device=f"d{d}", allocation=f"{name}{d}") for d in range(2))
    own = tuple(
        buffer(
            f"x{d}", device=f"d{d}", base=f"{name}{d}", offset=offset, planned=True, communication="g",
            communication_kind="symmetric",
        )
        for d in range(2)
    )  # fmt: skip
    shot = reduced(algorithm="one_shot", algorithms=("one_shot",) * 2, choice=Choice(on=True, threshold=16))
    return schedule(
        (*pair("a", preexisting=True), *pools, *own, *pair("y", output=True)), (*computed(), shot), alignment=4
    )


def each_buffer(made: Schedule, change: Callable[[Buffer], Buffer]) -> Schedule:
    """Return the schedule with every buffer changed."""
    return replace(made, buffers=tuple(map(change, made.buffers)))


def _of(*items: Collective, **flags: Any) -> Schedule:
    return schedule((*pair("x", preexisting=True), *pair("y", output=True, **flags)), items)


@violates("form.C13")
def buffer_of_one_kind_and_of_no_group() -> Schedule:
    """Memory is made symmetric without a word of the group whose members address it."""
    return _of(reduced(), communication_kind="symmetric")


@violates("form.C13")
def negative_threshold() -> Schedule:
    """A setting of bytes overflows, and the threshold below which one shot is taken is negative."""
    return _of(reduced(choice=Choice(on=True, threshold=-1)))


@violates("form.C13")
def groups_that_differ_between_ranks() -> Schedule:
    """Two processes make a group of one name from different lists of members, and wait for each other for ever."""
    made = _of(reduced())
    other = Collective(id="s", op="barrier", participants=("d0",), group="g")
    return replace(made, items=(*made.items, other))


@violates("form.C13")
def buffer_of_a_group_on_none_of_its_members() -> Schedule:
    """A buffer is registered with the group of other devices."""
    made = _of(reduced())
    return replace(
        made,
        devices={**made.devices, "d2": made.devices["d0"]},
        buffers=(*made.buffers, buffer("z", device="d2", communication="g")),
    )


@violates("communication.C1")
def input_taken_for_a_communication_buffer() -> Schedule:
    """The memory of an input is registered as it is, and the caller passes another tensor the next time."""
    return schedule((*pair("x", preexisting=True, communication="g"), *pair("y", output=True)), [reduced()])


@violates("communication.C2")
def communication_buffer_of_variable_size() -> Schedule:
    """A buffer whose size a variable gives is registered, and the next run brings a larger one."""
    made = in_memory_that_lasts()
    sized = each_buffer(made, lambda each: replace(each, shape=("m",)) if each.communication else each)
    return replace(sized, variables={"m": Bounds(low=1, high=4)})


@violates("communication.C3")
def communication_buffer_of_another_group() -> Schedule:
    """A buffer that is registered with the data-parallel group is handed to a collective of the tensor-parallel one."""
    made = in_memory_that_lasts()
    return replace(
        made, items=tuple(replace(e, group="h", choice=None) if isinstance(e, Collective) else e for e in made.items)
    )


@violates("communication.C4")
def part_of_another_group() -> Schedule:
    """The pool of one group hands out a block to another one, whose members cannot address it."""
    made = in_memory_that_lasts()
    return each_buffer(made, lambda each: replace(each, communication="h") if each.id.startswith("pool") else each)


@violates("communication.C5")
def moved_to_a_second_communication_buffer() -> Schedule:
    """A value that was computed into symmetric memory is copied to other symmetric memory for its collective."""
    made = in_memory_that_lasts()
    again = tuple(replace(each, id=f"z{each.device[1]}", offset=32) for each in made.buffers if each.communication)
    moves = [elementwise(f"m{d}", "move", f"z{d}", f"x{d}", device=f"d{d}") for d in range(2)]
    *first, last = made.items
    assert isinstance(last, Collective)
    return replace(
        made,
        buffers=(*made.buffers, *again),
        items=(*first, *moves, replace(reduced(source="z"), algorithm="one_shot", choice=last.choice)),
    )


def _twice() -> Schedule:
    """Return two sums, the second of what lies in a second allocation of each device."""
    made = in_memory_that_lasts()
    pools = tuple(buffer(f"q{d}", device=f"d{d}", allocation=f"q{d}", communication="g") for d in range(2))
    again = reduced("s", "q", "u", algorithm="one_shot")
    crossed = replace(again, accesses=(reads("x0", line()), *again.accesses[1:]))
    return replace(
        made,
        buffers=(*made.buffers, *pools, *pair("u", output=True)),
        items=(*made.items, computed("q")[1], crossed),
    )


@violates("communication.C6")
def ranks_work_on_other_allocations() -> Schedule:
    """One rank's allocator hands out the block of an earlier collective, the other's a new one.

    Seen in sglang #29946: what was registered together is not what is used together.
    """
    made = _twice()
    return each_buffer(made, lambda each: replace(each, communication_kind="") if each.communication else each)


@violates("communication.C7")
def more_bytes_on_one_rank() -> Schedule:
    """Ranks pad their shards differently, and one registers more than the other reads."""
    made = in_memory_that_lasts()
    return each_buffer(made, lambda each: replace(each, size=32) if each.id == "x1" else each)


@violates("communication.C8")
def another_offset_on_one_rank() -> Schedule:
    """Symmetric memory is given out by an allocator that has served one rank more often than the other.

    Seen in sglang #33037: peers read at their own offset, and find the bytes of another value.
    """
    made = in_memory_that_lasts()
    return each_buffer(made, lambda each: replace(each, offset=16) if each.id == "x1" else each)


@violates("communication.C9")
def result_in_memory_that_the_next_run_writes() -> Schedule:
    """A value that is reduced in lasting memory is returned as it lies there; the next step changes it."""
    made = in_memory_that_lasts()
    own = tuple(
        replace(each, base=None, offset=0, planned=False, allocation=f"s{each.device}", output=True)
        for each in made.buffers
        if each.communication
    )
    kept = tuple(each for each in made.buffers if not each.communication and not each.allocation)
    return replace(made, buffers=(*kept, *own))


@violates("communication.C10")
def elsewhere_in_the_next_iteration() -> tuple[Schedule, Schedule]:
    """Memory is taken from the pool anew in each iteration, and lies elsewhere in the second."""
    return in_memory_that_lasts(), in_memory_that_lasts(16)


@violates("communication.C11")
def two_programs_draw_one_allocation() -> tuple[Schedule, Schedule]:
    """Names of allocations are drawn from the global random state, which a script seeds before each compilation.

    Seen in PyTorch #180858.
    """
    return in_memory_that_lasts(), in_memory_that_lasts(size=2 * ARENA)
