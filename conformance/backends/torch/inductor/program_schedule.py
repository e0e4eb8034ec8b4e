"""The neutral schedule of an ``spmd`` program that Inductor compiles once for each rank, in one process."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from msgspec.structs import replace
from torch._inductor.graph import GraphLowering

from conformance.backends.torch.inductor.capture import captured
from conformance.backends.torch.inductor.fake_group import rank_of
from conformance.backends.torch.inductor.made import Function
from conformance.backends.torch.inductor.meeting_ranks import meeting
from conformance.backends.torch.inductor.passes import choice, settings, switched, with_costs
from conformance.backends.torch.inductor.rank_events import RankSchedule, read
from conformance.backends.torch.inductor.schedule import PROCESSOR
from conformance.backends.torch.inductor.traced_program import TracedProgram
from conformance.cases.case import Case
from conformance.cases.schedule.communication import Choice
from conformance.cases.schedule.index_map import Affine
from conformance.cases.schedule.schedule import Collective, Item, Place, Schedule


@dataclass(frozen=True)
class Compiled:
    """The ``schedule`` of the first run of what was compiled, and of each rank what runs its wrapper once more."""

    schedule: Schedule
    reruns: tuple[Callable[[], Mapping[str, str]], ...]

    def later(self, runs: int) -> Schedule:
        """Run it so many times more, and return the schedule with the allocations that the last run asks for."""
        lasting: dict[str, str] = {}
        for _ in range(runs):
            lasting = {name: given for rerun in self.reruns for name, given in rerun().items()}
        buffers = (replace(each, allocation=lasting.get(each.id, "")) for each in self.schedule.buffers)
        return replace(self.schedule, buffers=tuple(buffers))


def compiled(case: Case, *, planned: bool = True, passes: Sequence[str] = (), costs: int | None = None) -> Compiled:
    """Compile a program for each rank; raise ``Unsupported`` for what cannot be said of it, and what Torch raises.

    ``passes`` are those of Inductor's that are on. With ``costs``, a seed, those that ask for estimates are on too, and
    given random ones, others on each rank.
    """

    def options(rank: int) -> dict[str, Any]:
        return settings(passes) if costs is None else with_costs(passes, f"{costs} {rank}")

    began, ranks = random.getstate(), []
    with switched(passes):
        for rank in range(case.program.world):
            # Each rank is a process of its own, whose random numbers begin as those of the others do.
            random.setstate(began)
            ranks.append(_compiled(case, rank, planned=planned, options=options(rank)))
    chosen = choice(passes)
    made = Schedule(
        devices={str(rank): PROCESSOR for rank in range(case.program.world)},
        buffers=tuple(buffer for each in ranks for buffer in each.buffers),
        items=tuple(_told(item, chosen) for item in meeting([each.events for each in ranks])),
        places=tuple(place for each in ranks for place in each.places),
    )
    return Compiled(made, tuple(each.rerun for each in ranks))


def _told(item: Item, chosen: Choice) -> Item:
    """Return an item, of an all_reduce with what it is chosen by."""
    return replace(item, choice=chosen) if isinstance(item, Collective) and item.op == "all_reduce" else item


def _handed_on(module: torch.fx.GraphModule, traced: TracedProgram) -> Iterator[Place]:
    """Yield where the results of a function lie that are arguments."""
    numbers = {node: at for at, node in enumerate(module.graph.find_nodes(op="placeholder"))}
    returned: Any = module.graph.output_node().args[0]
    for name, node in zip(traced.results, returned, strict=True):
        storage, tensor = traced.storages[numbers[node]], traced.given[numbers[node]]
        at = Affine(extents=tuple(tensor.shape), strides=tensor.stride(), offset=traced.origins[storage.id])
        yield Place(node=f"{name}[{traced.rank}]", buffer=storage.id, map=(at,))


def _compiled(case: Case, rank: int, *, planned: bool, options: Mapping[str, Any]) -> RankSchedule:
    """Return what Inductor makes of the program on one rank."""
    with rank_of(rank, case.program.world) as communicators:
        traced = TracedProgram(case, rank)
        module = traced.traced(communicators)
        if not any(node.op == "call_function" for node in module.graph.nodes):
            # Inductor is not asked about a function that only hands on what it is given.
            return RankSchedule((), tuple(traced.storages), tuple(_handed_on(module, traced)))
        function = Function(
            device=str(rank),
            storages=tuple(traced.storages),
            results=len(traced.results),
            origins=traced.origins,
            own=lambda name: f"{name}[{rank}]",
            communicators={name: ",".join(map(str, members)) for name, members in communicators.members.items()},
        )

        def told(lowered: GraphLowering, text: str) -> RankSchedule:
            results = [f"{name}[{rank}]" for name in traced.results]
            return read(lowered, text, function, results, communicators.members)

        return captured(module, traced.given, told, planned=planned, options=options)
