"""Torch's list forms of tensors of unequal sizes, and conversions past the greatest number of a dtype, over gloo."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.specification.framework_names.conversions import PAST, converted
from tests.specification.framework_names.rows import WORLD, says
from tests.specification.framework_names.torch_rows import RECEIVES, ROOTED, ROWS_MOVED, SENDS, rooted, torch_rows

LENGTHS = [1, 2, 0, 3]

SHORT = timedelta(seconds=8)
"""How long ranks wait for a root that has raised."""


def filled(length: int, number: int = -1) -> Any:
    import torch

    return torch.full((length,), number, dtype=torch.int32)


def of_lists(name: str) -> Callable[[int], Any]:
    """Return a call of a list form in a group of its own, whose connections a failure may close."""

    def run(rank: int) -> Any:
        import torch.distributed as dist

        group = dist.new_group(list(range(WORLD)), timeout=SHORT)
        mine, parts = filled(LENGTHS[rank], rank), [filled(length) for length in LENGTHS]
        if name == "all_gather":
            dist.all_gather(parts, mine, group=group)
        elif name == "gather":
            dist.gather(mine, parts if rank == 0 else None, dst=0, group=group)
        elif name == "scatter":
            dist.scatter(mine, parts if rank == 0 else None, src=0, group=group)
        else:
            parts = [filled(length) for length in RECEIVES[rank]]
            dist.all_to_all(parts, [filled(length, rank) for length in SENDS[rank]], group=group)
        return parts

    return run


for name in ("gather", "scatter"):
    torch_rows(f"distributed.{name}", f"{name}_list", ours=ROOTED[name])(rooted(name, None, 1))

REFUSED = says("rejected by collective.C20")
torch_rows("distributed.all_gather", "of tensors of unequal sizes, over gloo", ours=REFUSED)(of_lists("all_gather"))
torch_rows("distributed.gather", "of tensors of unequal sizes", ours=REFUSED)(of_lists("gather"))
torch_rows("distributed.scatter", "of tensors of unequal sizes", ours=says("rejected by scatter.C8"))(
    of_lists("scatter")
)
torch_rows(
    "distributed.all_to_all",
    "of tensors of unequal sizes, over gloo",
    ours=ROWS_MOVED,
    theirs="raises RuntimeError",
)(of_lists("all_to_all"))


def conversion(dtype: str) -> Callable[[int], Any]:
    def run(_: int) -> Any:
        import torch

        return torch.tensor(PAST[dtype]).to(getattr(torch, dtype)).double().tolist()

    return run


for dtype in PAST:
    torch_rows(
        "Tensor.to",
        f"{dtype}, past the greatest number",
        ours=says(converted(dtype)),
        theirs="float 448.0; float 448.0; float 448.0" if dtype == "float8_e4m3fn" else None,
    )(conversion(dtype))
