"""Programs in which ranks run different steps, are late or die: what is well formed, and what such a case asks for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from conformance.cases.case import Case, Fault
from conformance.cases.case_error import CaseError
from conformance.cases.program.program import NO_COLLECTIVES, Step

WORDS: Final = ("apart", "attributes", "dtypes", "late", "dies")
"""Words of the feature ``faults``: a step is not for all ranks; ranks may meet in one operation with other attributes,
or with blocks of other dtypes; a rank is late; a rank dies."""

LONGEST: Final = 1.0
"""Seconds by which a rank may be late, at most; drawn programs have a fifth of it
(``generate/programs/divergent_ranks.py``).

How long ranks wait for each other before they give up is for each backend to say. Gloo's are told to give up sooner
(``GLOO_TIMEOUT`` of the backend ``torch``), so of a rank that is as late as this they may say so.
"""


def check_trouble(case: Case) -> None:
    """Raise ``CaseError`` when ranks of steps or faults of ``case`` make no sense; all else is well formed already."""
    if not case.troubled:
        return
    holders = {name: frozenset(range(case.program.world)) for name in case.inputs}
    for index, step in enumerate(case.program.steps):
        where = f"step {index} ({step.op})"
        if step.op in NO_COLLECTIVES or step.into or step.start:
            raise CaseError(
                f"{where}: where ranks run different steps, or faults befall them, there are no effects"
                " and nothing computes"
            )
        ranks = _ranks(where, step, case.program.world)
        for name in step.inputs:
            without = sorted(ranks - holders[name])
            if without:
                raise CaseError(f"{where} takes {name!r}, of which rank {without[0]} has no block")
        holders |= dict.fromkeys(step.outputs, ranks)
    for number, fault in enumerate(case.faults):
        _check_fault(f"fault {number}", fault, case)


def _ranks(where: str, step: Step, world: int) -> frozenset[int]:
    """Return the ranks that take part."""
    if step.ranks is None:
        return frozenset(range(world))
    if not step.ranks or list(step.ranks) != sorted(set(step.ranks)):
        raise CaseError(f"{where} has the ranks {list(step.ranks)}; they must be one or more, each once, in order")
    if not 0 <= step.ranks[0] <= step.ranks[-1] < world:
        raise CaseError(f"{where} has the ranks {list(step.ranks)}; the mesh has 0 to {world - 1}")
    return frozenset(step.ranks)


def _check_fault(where: str, fault: Fault, case: Case) -> None:
    world, steps = case.program.world, len(case.program.steps)
    if not 0 <= fault.rank < world:
        raise CaseError(f"{where} befalls rank {fault.rank}; the mesh has 0 to {world - 1}")
    if not 0 <= fault.before < steps:
        raise CaseError(f"{where} comes before step {fault.before}; the program has 0 to {steps - 1}")
    if fault.delay is not None and not 0 < fault.delay <= LONGEST:
        raise CaseError(f"{where} is a delay of {fault.delay} s; it must be more than 0 and at most {LONGEST:g}")


def trouble_words(case: Case) -> frozenset[str]:
    """Return the words of the feature ``faults``."""
    return frozenset(_words(case))


def _words(case: Case) -> Iterator[str]:
    for fault in case.faults:
        yield "dies" if fault.delay is None else "late"
    if not case.divergent:
        return
    yield "apart"
    for one, two in combinations(case.program.collectives, 2):
        # Seen from outside, these may be calls that meet; whether they do is for whoever runs the program to find out.
        if one.op == two.op and not set(one.ranks or ()) & set(two.ranks or ()):
            if one.attrs != two.attrs:
                yield "attributes"
            if _dtypes(case, one) != _dtypes(case, two):
                yield "dtypes"


def _dtypes(case: Case, step: Step) -> list[set[str]]:
    """Return the dtypes of the program's inputs that a step takes, on the ranks that take part."""
    ranks = range(case.program.world) if step.ranks is None else step.ranks
    return [{case.inputs[name].blocks[rank].dtype for rank in ranks} for name in step.inputs if name in case.inputs]
