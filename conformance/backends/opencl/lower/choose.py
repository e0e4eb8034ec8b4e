"""Which algorithm: a pure function of the operation, the sizes, the group and the settings."""

from __future__ import annotations

from typing import Final

from conformance.backends.opencl.settings import Algorithm, Settings

RING: Final = frozenset({"all_reduce", "reduce_scatter", "all_gather", "broadcast"})
"""The operations whose blocks travel member to member; the others send each piece to one place only."""


def choose(operation: str, elements: int, members: int, settings: Settings) -> Algorithm:
    """Return the algorithm for one group of ``members`` with ``elements`` a rank."""
    if settings.force == "ring":
        return "ring" if operation in RING else "naive"
    if settings.force is not None:
        return settings.force
    reduces = operation in ("all_reduce", "reduce_scatter")
    if reduces and elements >= settings.ring_from and members >= settings.ring_members:
        return "ring"
    return "direct"
