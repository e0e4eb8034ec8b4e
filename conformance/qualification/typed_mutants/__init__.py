"""Wrong types, transposes and mappings, which the suites ``types`` and ``transforms`` have to find.

Here: mistakes by what they are about: types, starts, transposes, pushes, batches, what is lowered or compiled.
Not here: how a reference runs with one of them (``typed_verdicts``), and changes that nobody wrote (``auto``).
"""

from __future__ import annotations

from typing import Final

from conformance.qualification.typed_mutants import batches, compiled, lowering, pushes, starts, transposes, types
from conformance.qualification.typed_mutants.mutant import TypedMutant
from conformance.runner.dialects.types import BATCHED, COMPILED, LOWERED, PUSHED, TRANSPOSED, TYPED

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
