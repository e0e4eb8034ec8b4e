"""Programs in which ranks run different steps: who meets whom, found before anything is enqueued.

The host sees the steps of all ranks, so a program in which some cannot go on is refused as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from conformance.backends.opencl.graph import rejections as no
from conformance.backends.opencl.graph.attributes import attributes, partitioned
from conformance.backends.opencl.graph.node import Movement
from conformance.cases.program.program import Program, Step

TOGETHER: Final = ("send", "recv", "ragged_all_to_all")
"""Operations that are never a step of some ranks alone. What a send has under way is of all ranks at once, and so are
the tables of a ragged exchange."""

Group = tuple[int, ...]
Blocks = tuple[Movement, ...]
Held = list[dict[str, Movement | None]]
Make = Callable[[Step, Group, list[Blocks]], list[tuple[Movement | None, ...]]]
"""Take a step, the members of a group and for each operand their blocks; return for each result theirs."""


class Call(msgspec.Struct, frozen=True):
    """What a rank waits for: a step, the members it means, the attributes and its blocks."""

    step: Step
    group: Group
    attrs: dict[str, Any]
    blocks: Blocks


def meet(program: Program, groups: Callable[[Step], tuple[Group, ...]], held: Held, make: Make) -> None:
    """Run the steps of every rank on the blocks it has ``held``, adding what each step gives it.

    Raise a ``RejectionError`` when some rank cannot go on.
    """
    members = {key: groups(key.step) for key in map(_Key, program.steps)}
    for listed in members.values():
        partitioned(listed, program.world)
    left = [
        [key for key in members if key.step.ranks is None or rank in key.step.ranks] for rank in range(program.world)
    ]
    while any(left):
        waiting = {
            rank: _call(steps[0].step, rank, members[steps[0]], held) for rank, steps in enumerate(left) if steps
        }
        ready = list(_ready(waiting))
        if not ready:
            raise _stuck(waiting, left)
        for group in ready:
            calls = [waiting[rank] for rank in group]
            operands = [tuple(blocks) for blocks in zip(*(call.blocks for call in calls), strict=True)]
            made = make(calls[0].step, group, operands)
            for position, (rank, call) in enumerate(zip(group, calls, strict=True)):
                held[rank].update(zip(call.step.outputs, (ranks[position] for ranks in made), strict=False))
                del left[rank][0]


class _Key:
    """A step of a program, told from one that is the same."""

    def __init__(self, step: Step) -> None:
        self.step = step


def _call(step: Step, rank: int, groups: Sequence[Group], held: Held) -> Call:
    blocks = [held[rank].get(name) for name in step.inputs]
    if None in blocks:
        raise no.WrongValueError(
            f"{step.op} takes {step.inputs[blocks.index(None)]!r}, of which rank {rank} has no block"
        )
    group = next(group for group in groups if rank in group)
    return Call(step, group, attributes(step.op, step.attrs), tuple(block for block in blocks if block is not None))


def _ready(waiting: Mapping[int, Call]) -> Iterator[Group]:
    """Yield the groups all of whose members have come; raise a ``RejectionError`` when those of one do not agree."""
    for group in dict.fromkeys(call.group for call in waiting.values()):
        calls = [waiting[rank] for rank in group if rank in waiting and waiting[rank].group == group]
        if len(calls) == len(group):
            for rank, call in zip(group, calls, strict=True):
                _agree(group[0], calls[0], rank, call)
            yield group


def _agree(first: int, told: Call, rank: int, call: Call) -> None:
    """Demand that two members call the same; ``operations.collective`` looks at their blocks."""
    names = [f"{one.step.op} of {len(one.blocks)} operands" for one in (told, call)]
    if names[0] != names[1]:
        raise no.CallsDifferError(f"rank {first} calls {names[0]} and rank {rank} {names[1]}; a group makes one call")
    if told.attrs != call.attrs:
        raise no.CallsDifferError(
            f"{call.step.op}: rank {first} gives {told.attrs} and rank {rank} {call.attrs}; a group gives the same"
        )


def _stuck(waiting: Mapping[int, Call], left: Sequence[Sequence[_Key]]) -> no.RejectionError:
    """Return the error for ranks that wait for others who do not come."""
    rank, call = next(iter(waiting.items()))
    done = [other for other in call.group if not left[other]]
    asked = f"rank {rank} waits in {call.step.op} for the group {list(call.group)}"
    if done:
        return no.MemberDoneError(f"{asked}, but rank {done[0]} has no step left; members make equally many calls")
    other = next(other for other in call.group if waiting[other].group != call.group)
    return no.GroupsDifferError(
        f"{asked}, but rank {other} waits in {waiting[other].step.op} for the group {list(waiting[other].group)}; "
        "members mean the same ranks in the same order, and meet in the same order"
    )
