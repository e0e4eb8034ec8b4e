"""Wrong types, transposes and mappings, which the suites ``types`` and ``transforms`` have to find."""

from __future__ import annotations

from typing import Final

from conformance.backends.reference import Reference
from conformance.backends.worker import typed
from conformance.qualification.typed_mutants import batches, compiled, lowering, pushes, starts, transposes, types
from conformance.qualification.typed_mutants.mutant import TypedMutant
from conformance.runner.dialects.types import BATCHED, COMPILED, DIALECT, LOWERED, PUSHED, TRANSPOSED, TYPED
from conformance.runner.draws import numbered
from conformance.specs.types.verdict import judge

BY_OPERATION: Final = {
    TYPED: (*types.MUTANTS, *starts.MUTANTS),
    TRANSPOSED: transposes.MUTANTS,
    BATCHED: batches.MUTANTS,
    LOWERED: lowering.MUTANTS,
    COMPILED: compiled.MUTANTS,
    PUSHED: pushes.MUTANTS,
}
"""The mutants that are wrong about the cases of an operation."""

MUTANTS: Final[dict[str, TypedMutant]] = {each.name: each for mutants in BY_OPERATION.values() for each in mutants}
"""Every mutant by name."""

RIGHT: Final = "Reference"
"""The name of the right implementation, which is tried beside them."""


def killed(examples: int, seed: int = 0) -> dict[str, tuple[int, str]]:
    """Return, for each mutant that a run finds, how many cases of a domain that took and the clause to blame.

    A run has ``examples`` cases of each domain of the two suites. A right implementation that a case refuses is there
    too, as ``RIGHT``.
    """
    found: dict[str, tuple[int, str]] = {}
    for suite in DIALECT.suites.values():
        for op, domain in suite.domains.items():
            for number in range(examples):
                meaning = DIALECT.mean(numbered(domain, seed, number)[0])
                if meaning is None:
                    continue
                seen = {RIGHT: typed(Reference(), meaning.case)}
                seen |= {each.name: each.observed(meaning.case) for each in BY_OPERATION[op] if each.name not in found}
                for name, observation in seen.items():
                    verdict = judge(meaning, observation)
                    if verdict.outcome in ("failed", "errored") and verdict.blame is not None:
                        found.setdefault(name, (number + 1, verdict.blame.id))
    return found
