"""Which algorithm: a pure function of the operation, the sizes, the group and the settings."""

from __future__ import annotations

from conformance.backends.opencl.graph.operations import FORMS
from conformance.backends.opencl.settings import Algorithm, Settings


def choose(
    operation: str,
    elements: int,
    members: int,
    settings: Settings,
    *,
    width: int = 4,
    realized: bool = False,
    pieces: int = 1,
) -> Algorithm:
    """Return the algorithm for one group of ``members`` with ``elements`` a rank, of ``width`` bytes each.

    ``realized`` says that the program computes the operands, so that they can lie in communication buffers. One of
    several ``pieces`` of a call is never one-shot.
    """
    form = FORMS.get(operation)
    if settings.force in ("ring", "tree"):
        return settings.force if form and (form.partly or form.passed_on) else "naive"
    if settings.force is not None:
        return "direct" if settings.force == "one_shot" and pieces > 1 else settings.force
    if operation == "all_reduce" and realized and pieces == 1 and elements * width <= settings.one_shot_upto:
        return "one_shot"
    if not form or not form.partly or members < settings.ring_members:
        return "direct"
    reached: dict[Algorithm, bool] = {
        "ring": elements >= settings.ring_from,
        "all_to_all": elements >= settings.all_to_all_from,
        "tree": elements >= settings.tree_from,
    }
    return next((algorithm for algorithm, is_reached in reached.items() if is_reached), "direct")
