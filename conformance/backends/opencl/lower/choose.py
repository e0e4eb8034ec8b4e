"""Which algorithm: a pure function of the operation, the sizes, the group and the settings."""

from __future__ import annotations

from typing import Final

from conformance.backends.opencl.settings import Algorithm, Settings

FOLDS_PARTLY: Final = frozenset({"all_reduce", "reduce", "reduce_scatter"})
"""The reductions that have partial results to carry on. An ``arg_reduce`` has none: a value forgets its position."""

PASSED_ON: Final = frozenset({"all_gather", "broadcast", "gather", "scatter"})
"""The operations whose blocks can travel by way of others; the rest send each piece to one place only."""


def choose(operation: str, elements: int, members: int, settings: Settings) -> Algorithm:
    """Return the algorithm for one group of ``members`` with ``elements`` a rank."""
    if settings.force in ("ring", "tree"):
        return settings.force if operation in FOLDS_PARTLY | PASSED_ON else "naive"
    if settings.force is not None:
        return settings.force
    if operation not in FOLDS_PARTLY or members < settings.ring_members:
        return "direct"
    if elements < settings.one_shot_below:
        return "one_shot"
    reached: dict[Algorithm, bool] = {
        "ring": elements >= settings.ring_from,
        "all_to_all": elements >= settings.all_to_all_from,
        "tree": elements >= settings.tree_from,
    }
    return next((algorithm for algorithm, is_reached in reached.items() if is_reached), "direct")
