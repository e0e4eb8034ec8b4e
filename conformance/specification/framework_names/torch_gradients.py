"""What gradients pass through names of Torch 2.13; executed over gloo.

Each row's form is the transpose of a collective. Gradients are those of a loss that every rank computes and adds its
own part to, as without types: `transposes.C15`.
"""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.row import Framework

_TORCH = Framework("torch")
_UNSEEN: Final = "c10d works on memory and autograd does not see it: "

_PASS: Final = {
    "all_reduce": (
        "transposes.C15",
        "The sum over ranks of their gradients: where each rank adds its own loss, the gradient of all losses.",
    ),
    "all_gather": (
        "transposes.C4",
        "A reduce_scatter: the sum over ranks of their gradients of this rank's block, not those of this rank alone.",
    ),
    "reduce_scatter": ("transposes.C7", "An all_gather."),
    "all_to_all_single": ("transposes.C8", "Each piece goes back."),
    "broadcast": ("transposes.C9", "The root has the sum of all gradients, the other ranks have zeros."),
}
"""The clause of each transpose, and what it is."""

_NAMES: Final = {
    **{f"distributed.nn.functional.{op}": op for op in _PASS},
    **{f"_functional_collectives.{op}": op for op in ("all_reduce", "all_to_all_single")},
    **{
        f"_functional_collectives.{op}{form}": op
        for op in ("all_gather", "reduce_scatter")
        for form in ("_tensor", "_single", "_tensor_autograd")
    },
    "_functional_collectives.all_to_all_single_autograd": "all_to_all_single",
}
"""The functions that gradients pass through, each with the operation that it is."""

GRADIENTS: Final = (
    *(
        _TORCH.equal(name, f"transpose of {op.removesuffix('_single')}", *_PASS[op], aspect="gradient")
        for name, op in _NAMES.items()
    ),
    _TORCH.otherwise(
        "distributed.all_reduce",
        "transpose of all_reduce",
        "transposes.C15",
        f"{_UNSEEN}the gradient comes back as if there were no sum. `distributed.nn.functional.all_reduce` has it.",
        aspect="gradient",
    ),
    _TORCH.otherwise(
        "distributed.all_gather",
        "transpose of all_gather",
        "transposes.C4",
        f"{_UNSEEN}no gradient passes, and the outputs do not require any. "
        "`distributed.nn.functional.all_gather` has it.",
        aspect="gradient",
    ),
    _TORCH.otherwise(
        "distributed.reduce_scatter",
        "transpose of reduce_scatter",
        "transposes.C7",
        f"{_UNSEEN}no gradient passes. `distributed.nn.functional.reduce_scatter` has it.",
        aspect="gradient",
    ),
    _TORCH.otherwise(
        "distributed.nn.functional.all_reduce",
        'transpose of all_reduce(op="max")',
        "transposes.C13",
        "Gives each rank the greatest of the gradients, also a rank that does not hold the maximum. No transpose is "
        "defined, so that any is right; this one is no derivative.",
        aspect="gradient of MAX",
    ),
    _TORCH.equal(
        "_functional_collectives.all_reduce",
        'transpose of all_reduce(op="max")',
        "transposes.C13",
        "Raises RuntimeError: no transpose is defined, and raising is right.",
        aspect="gradient of max",
    ),
    _TORCH.silent(
        "Tensor.max",
        "Derivatives of graphs: outside. `x.max()`, `amax` and `maximum` share the gradient evenly among equal maxima; "
        "`x.max(dim)` gives it to one.",
        "transposes.C13",
        aspect="gradient",
    ),
)
