"""What one rank does, in order: kernels, the collectives that it enters, and what it waits for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch._inductor.graph import GraphLowering

from conformance.backends.base import Unsupported
from conformance.backends.torch.inductor.collective_calls import WAIT, Call, call_of
from conformance.backends.torch.inductor.made import Function, LoweredFunction
from conformance.backends.torch.inductor.origins import as_traced, steps_of, traced_as
from conformance.backends.torch.inductor.wrapper import NAMESPACES, Called, View, read_wrapper
from conformance.cases.graph.buffer import Buffer
from conformance.cases.schedule.schedule import Access, Kernel, Place

Key = tuple[object, ...]
"""What a collective is known by on all its ranks: its members, what it does, and how many alike came before it."""


@dataclass(frozen=True)
class Entered:
    """A collective that the rank enters: ``accesses`` are a read and a write for each piece."""

    id: str
    key: Key
    call: Call
    members: tuple[int, ...]
    accesses: tuple[tuple[Access, Access], ...]


@dataclass(frozen=True)
class Waited:
    """The rank waits for a piece of a collective that it has started."""

    id: str
    key: Key
    piece: int


Event = Kernel | Entered | Waited


@dataclass(frozen=True)
class RankSchedule:
    """What one rank does, the buffers that it does it with, and where its results are at the end.

    ``rerun`` runs the wrapper once more, and returns the allocation of each buffer that lasts.
    """

    events: tuple[Event, ...]
    buffers: tuple[Buffer, ...]
    places: tuple[Place, ...]
    rerun: Callable[[], Mapping[str, str]] = dict


def read(
    lowered: GraphLowering, text: str, function: Function, results: list[str], groups: Mapping[str, tuple[int, ...]]
) -> RankSchedule:
    """Return what Inductor made of a rank's function, while it still knows its graph; ``results`` are their nodes."""
    made = LoweredFunction(function, lowered, read_wrapper(text))
    events = tuple(_Reader(made, groups).events())
    places = tuple(
        Place(node=name, buffer=made.at(view)[0], map=made.mapped(view))
        for name, view in zip(results, made.wrapper.returned, strict=True)
    )
    return RankSchedule(events, made.declared({place.buffer for place in places}), places, made.rerun)


class _Reader:
    """The scheduler's list beside the wrapper's calls, which are in the same order."""

    def __init__(self, made: LoweredFunction, groups: Mapping[str, tuple[int, ...]]) -> None:
        self._made, self._groups = made, groups
        self._calls = iter(made.wrapper.calls)
        self._alike: dict[Key, int] = {}
        self._under_way: dict[str, tuple[Key, int]] = {}

    def events(self) -> Iterator[Event]:
        """Yield what the rank does; a wait for what is done already is nothing."""
        for node in self._made.lowered.scheduler.nodes:
            operator = _operator(node)
            if operator is not None:
                called = next(self._calls, None)
                if called is None or called.operator != operator:
                    raise Unsupported(f"{operator} in the scheduler's list, beside {called and called.operator}")
                yield from self._communicating(node, called)
            elif not self._made.names_only(node) and not _part(node):
                yield self._made.kernel(node)
        if (left := next(self._calls, None)) is not None:
            raise Unsupported(f"a call of {left.operator} that is in no list of the scheduler")

    def _communicating(self, node: Any, called: Called) -> Iterator[Event]:
        name = self._made.function.own(node.get_name())
        if called.operator == WAIT:
            storage = called.given[0].storage
            if storage in self._under_way:
                yield Waited(name, *self._under_way[storage])
            return
        call = call_of(called)
        origin = traced_as(node)
        accesses = tuple(
            (as_traced(self._access(read, write=False), origin, piece), self._access(written, write=True))
            for piece, (read, written) in enumerate(call.pieces)
        )
        members = self._groups[call.group]
        like: Key = (members, call.op, tuple(sorted(call.attrs.items())), len(accesses))
        number = self._alike[like] = self._alike.get(like, -1) + 1
        key = (*like, number)
        for piece, (_, written) in enumerate(call.pieces):
            self._under_way.pop(written.storage, None)
            if call.started:
                self._under_way[written.storage] = key, piece
        yield Entered(name, key, replace(call, pieces=(), steps=steps_of(origin)), members, accesses)

    def _access(self, view: View, *, write: bool) -> Access:
        return Access(buffer=self._made.at(view)[0], write=write, map=self._made.mapped(view))


def _operator(node: Any) -> str | None:
    """Return the operator of a node that communicates."""
    overload = getattr(node.node, "op_overload", None)
    if overload is None or getattr(overload, "namespace", None) not in NAMESPACES:
        return None
    return str(overload).removesuffix(".default")


def _part(node: Any) -> bool:
    """Return whether a node only names one of the results of a call that communicates."""
    inner = node.node
    return type(inner).__name__ == "MultiOutput" and _operator_of(inner.inputs[0]) is not None


def _operator_of(inner: Any) -> str | None:
    overload = getattr(inner, "op_overload", None)
    return None if overload is None or overload.namespace not in NAMESPACES else str(overload)
