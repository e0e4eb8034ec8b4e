"""Mistakes about starting what has next to nothing to do, or several things to do at once."""

from __future__ import annotations

from typing import Any

from conformance.backends.reference import Stored
from conformance.cases.program.program import Step, rank_groups
from conformance.qualification.mutants.effectful import Act, Effectful, unfinished
from conformance.reference.effects import Ranks


class _Refuses(Stored):
    """Some starts give nothing that could be waited for."""

    def hopeless(self, step: Step) -> bool:
        raise NotImplementedError

    def start(self, act: Act, step: Step) -> list[Any]:
        tickets = super().start(act, step)
        return [None] * len(tickets) if self.hopeless(step) else tickets

    def done(self, ticket: Any) -> Ranks:
        if ticket is None:
            raise AttributeError("a plain value cannot be waited for")
        return super().done(ticket)


class _NoAxis(_Refuses):
    def hopeless(self, step: Step) -> bool:
        return not step.axes


class OverNothingNothingStarts(Effectful):
    """Over no axis start returns its operand at once, which is nothing to wait for."""

    breaks = "async.C9"
    outcome = "errored"
    effects = _NoAxis


class _Singles(_Refuses):
    def hopeless(self, step: Step) -> bool:
        groups = rank_groups(self.case.program.mesh, step.axes, step.groups)
        return bool(step.axes) and all(len(group) == 1 for group in groups)


class AloneNothingStarts(Effectful):
    """A shortcut of the plain form for groups of one is taken by start too, and returns a value."""

    breaks = "async.C10"
    outcome = "errored"
    effects = _Singles


class _Empty(Stored):
    def done(self, ticket: Any) -> Ranks:
        if any(block is not None and block.size == 0 for block in ticket):
            raise RuntimeError("no request was posted")
        return super().done(ticket)


class NothingToSendIsNotStarted(Effectful):
    """A message of no bytes is not posted, and whoever waits for it finds no request."""

    breaks = "async.C11"
    outcome = "errored"
    effects = _Empty


class _FirstOnly(Stored):
    def start(self, act: Act, step: Step) -> list[Any]:
        return [ranks if at == 0 else unfinished(ranks) for at, ranks in enumerate(super().start(act, step))]


class OnlyTheFirstIsWaitedFor(Effectful):
    """pytorch#98640: one wait is emitted for a list of results, on the first, and the others come later."""

    breaks = "async.C12"
    corpus = ("pytorch#98640-review",)
    effects = _FirstOnly


class _NeedsOne(Stored):
    def start(self, act: Act, step: Step) -> list[Any]:
        tickets = super().start(act, step)
        if not step.inputs:
            raise IndexError("list index out of range")
        return tickets


class StartNeedsAnOperand(Effectful):
    """The first operand is looked at for its device before anybody asks whether there is one."""

    breaks = "async.C13"
    outcome = "errored"
    effects = _NeedsOne


class StartNeedsAnArray(Effectful):
    """Start binds a primitive, and a number that was reduced while tracing is none."""

    breaks = "async.C14"
    outcome = "errored"
    ops = ("reduce_constant",)
    effects = _NeedsOne
