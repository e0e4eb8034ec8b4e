"""Which algorithm: a pure function of the operation, the sizes, the group and the settings."""

from __future__ import annotations

from conformance.backends.opencl.graph.operations import FORMS
from conformance.backends.opencl.settings import Algorithm, Settings


def choose(operation: str, elements: int, members: int, settings: Settings) -> Algorithm:
    """Return the algorithm for one group of ``members`` with ``elements`` a rank."""
    form = FORMS.get(operation)
    if settings.force in ("ring", "tree"):
        return settings.force if form and (form.partly or form.passed_on) else "naive"
    if settings.force is not None:
        return settings.force
    if not form or not form.partly or members < settings.ring_members:
        return "direct"
    if elements < settings.one_shot_below:
        return "one_shot"
    reached: dict[Algorithm, bool] = {
        "ring": elements >= settings.ring_from,
        "all_to_all": elements >= settings.all_to_all_from,
        "tree": elements >= settings.tree_from,
    }
    return next((algorithm for algorithm, is_reached in reached.items() if is_reached), "direct")
