"""The names that frameworks have for what this specification says, each with our form and the difference.

Here: one file a framework, a row for each name.
Not here: what readers ask in words of their own (``topics``).
"""

from __future__ import annotations

from typing import Final

from conformance.specification.framework_names.dtensor import DTENSOR
from conformance.specification.framework_names.jax import JAX
from conformance.specification.framework_names.jax_control_flow import CONTROL_FLOW
from conformance.specification.framework_names.mpi import MPI
from conformance.specification.framework_names.others import MLX, NCCL, STABLEHLO
from conformance.specification.framework_names.row import OTHERWISE, RELATIONS, FrameworkName
from conformance.specification.framework_names.tinygrad import TINYGRAD
from conformance.specification.framework_names.torch import TORCH
from conformance.specification.framework_names.torch_gradients import GRADIENTS
from conformance.specification.framework_names.torch_messages import MESSAGES

FRAMEWORKS: Final[dict[str, str]] = {
    "jax": "JAX 0.10.2",
    "torch": "Torch 2.13, c10d over gloo",
    "dtensor": "Torch 2.13, torch.distributed.tensor",
    "tinygrad": "tinygrad 0.14.0",
    "mpi": "MPI 4.1, MPICH",
    "nccl": "NCCL 2",
    "mlx": "MLX 0.32",
    "stablehlo": "StableHLO 1, its reference interpreter",
}
"""What each is called, with the version that the rows are about."""

NAMES: Final[tuple[FrameworkName, ...]] = (
    *JAX,
    *CONTROL_FLOW,
    *TORCH,
    *MESSAGES,
    *GRADIENTS,
    *DTENSOR,
    *TINYGRAD,
    *MPI,
    *NCCL,
    *MLX,
    *STABLEHLO,
)
"""Every row, framework by framework."""

__all__ = ["FRAMEWORKS", "NAMES", "OTHERWISE", "RELATIONS", "FrameworkName"]
