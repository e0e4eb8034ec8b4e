"""Which written mutants, and schedules with a mistake, which clause kills."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec

from conformance.qualification.mutants import mutants
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.violations import violations


def mutants_by_clause() -> dict[str, list[str]]:
    """Return by clauses the names of the mutants that each kills, in order; a clause without any is not there.

    Mutants of programs and of schedules say which clause they break. Those of graphs, sharded tensors and types are
    listed by the clauses to blame for their failures (``killed_tensor_mutants``).
    """
    text = files("conformance.qualification").joinpath("killed_tensor_mutants.json").read_bytes()
    found = msgspec.json.decode(text, type=dict[str, list[str]])
    every: tuple[type[Any], ...] = (*mutants(), *schedule_mutants())
    for each in every:
        found.setdefault(each.breaks, []).append(each.__qualname__)
    for one in violations():
        found.setdefault(one.breaks, []).append(one.name)
    return {id: sorted(names) for id, names in found.items()}
