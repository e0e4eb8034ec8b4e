"""Wrong implementations of sharded tensors, which the suite ``sharding`` has to find, and right but unusual ones.

Here: mistakes by what they are about: steps, folds, bounds, storage, refusals; and ``variants``, which are right.
Not here: the reference that each of them changes (``backends.reference.sharded``).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import ModuleType
from typing import Final

from conformance.backends.base import Held
from conformance.backends.reference import Reference
from conformance.backends.reference.sharded import ShardedWalk
from conformance.cases.declarations.number_model import STANDARD
from conformance.cases.sharded.case import ShardedCase
from conformance.generate.domains import SHARDED
from conformance.judging.sharded.subject import sharded_meaning
from conformance.judging.sharded.verdict import judge_sharded
from conformance.qualification.sharded_mutants import bounds, folds, refusals, steps, storage, variants
from conformance.reference.rejection import Rejected
from conformance.reference.sharded.evaluate import run_sharded
from conformance.reference.sharded.parts import Sharding
from conformance.runner.draws import numbered
from conformance.specs.sharded import CLAUSES

Way = type[Sharding] | type[ShardedWalk]


def _listed(*modules: ModuleType) -> dict[str, Way]:
    return {
        name: found
        for module in modules
        for name, found in vars(module).items()
        if inspect.isclass(found)
        and issubclass(found, Sharding | ShardedWalk)
        and found.__module__ == module.__name__
        and not name.startswith("_")
    }


MUTANTS: Final[Mapping[str, Way]] = _listed(bounds, folds, refusals, steps, storage)
"""Every mutant by name."""

VARIANTS: Final[Mapping[str, Way]] = _listed(variants)
"""Every legal variant by name."""


class Changed(Reference):
    """The reference with steps done in another way."""

    def __init__(self, way: Way) -> None:
        """Run cases that way."""
        self._way = way

    def run_sharded(self, case: ShardedCase) -> dict[str, Held]:
        """Run a legal case; what has no meaning the oracle refuses, but by the clause that is left ``unrefused``."""
        try:
            run_sharded(case)
        except Rejected as rejected:
            if rejected.clause != getattr(self._way, "unrefused", ""):
                raise
        if issubclass(self._way, ShardedWalk):
            return self._way(case).run()
        return ShardedWalk(case, self._way(case.mesh)).run()


def refusing(ways: Mapping[str, Way], examples: int, seed: int = 0) -> dict[str, tuple[int, str]]:
    """Return, for each implementation that a run of so many cases refuses, how many that took and why."""
    found: dict[str, tuple[int, str]] = {}
    for number in range(examples):
        case: ShardedCase = numbered(SHARDED, seed, number)[0]
        subject = sharded_meaning(case)
        for name, way in ways.items():
            if name not in found:
                verdict = judge_sharded(subject, Changed(way).sharded(case), CLAUSES, STANDARD)
                if verdict.outcome != "passed":
                    found[name] = number + 1, f"{verdict.blame.id if verdict.blame else ''}: {verdict.detail}"
    return found
