"""The listed reductions of programs in which ranks run different steps, are late or die."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from conformance.cases.case import Case
from conformance.cases.program.program import Step


def trouble_reductions(case: Case) -> Iterator[Case]:
    """Yield every case that is one listed reduction of trouble smaller; nothing for a case without any.

    Leave out a fault, have a step be for all ranks, or for one rank less.
    """
    for at in range(len(case.faults)):
        yield replace(case, faults=(*case.faults[:at], *case.faults[at + 1 :]))
    for index, step in enumerate(case.program.steps):
        if step.ranks is not None:
            yield _with_ranks(case, index, None)
            if len(step.ranks) > 1:
                for rank in step.ranks:
                    yield _with_ranks(case, index, tuple(other for other in step.ranks if other != rank))


def _with_ranks(case: Case, index: int, ranks: tuple[int, ...] | None) -> Case:
    steps = list(case.program.steps)
    steps[index] = replace(steps[index], ranks=ranks)
    return replace(case, program=replace(case.program, steps=tuple(steps)))


def among(case: Case, keep: Sequence[int]) -> Case:
    """Return the case with what it says of the ranks ``keep`` alone, which are now counted from 0.

    A step for nobody stays, and has no meaning.
    """
    new = {rank: number for number, rank in enumerate(keep)}

    def kept(step: Step) -> Step:
        ranks = None if step.ranks is None else tuple(new[rank] for rank in step.ranks if rank in new)
        return replace(step, ranks=ranks)

    faults = tuple(replace(fault, rank=new[fault.rank]) for fault in case.faults if fault.rank in new)
    steps = tuple(kept(step) for step in case.program.steps)
    return replace(case, program=replace(case.program, steps=steps), faults=faults)


def without_step(case: Case, index: int) -> Case:
    """Return the case with faults that come before the same steps when step ``index`` is gone."""
    last = len(case.program.steps) - 2
    faults = tuple(replace(fault, before=min(fault.before - (fault.before > index), last)) for fault in case.faults)
    return replace(case, faults=faults)
