"""Inductor at work on a traced function, up to the code it writes: nothing is built in C++, and nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar
from unittest import mock

import torch
from torch._inductor import compile as compile_with_inductor
from torch._inductor.graph import GraphLowering

from conformance.backends.attribution import framework

Read = TypeVar("Read")

OPTIONS: Final = {
    # What is kept of an earlier compilation would be found without the scheduler.
    "force_disable_caches": True,
    # Its documentation: keeps the roundings of eager execution between fused operations, which a graph means.
    "emulate_precision_casts": True,
    # Whether a vector instruction set can be built for is tried by building: nothing is built here.
    "cpp.vec_isa_ok": True,
}
"""Inductor's settings for every schedule."""

UNPLANNED: Final = {"allow_buffer_reuse": False, "inplace_buffers": False}
"""Settings under which no memory is used again."""


def captured(
    function: torch.fx.GraphModule,
    inputs: Sequence[torch.Tensor],
    read: Callable[[GraphLowering, str], Read],
    *,
    planned: bool,
    options: Mapping[str, Any] | None = None,
) -> Read:
    """Return what ``read`` makes of a function's graph and wrapper, called while Inductor is still at work on them.

    ``options`` are settings beside those of every schedule.
    """
    seen: list[Read | Exception] = []

    def stopped(self: GraphLowering) -> _Nothing:
        wrapper, _ = self.codegen()
        try:
            seen.append(read(self, wrapper.value))
        except Exception as error:  # noqa: BLE001 - it is ours, and Inductor would make one of its own of it
            seen.append(error)
        return _Nothing()

    # As ``torch._inductor.utils.get_code`` does, which gives the text alone.
    with framework(), mock.patch.object(GraphLowering, "compile_to_module", stopped):
        compile_with_inductor(function, list(inputs), {**OPTIONS, **({} if planned else UNPLANNED), **(options or {})})
    (found,) = seen
    if isinstance(found, Exception):
        raise found
    return found


class _Nothing:
    """The module that is not made."""

    def call(self, *_: Any) -> None:
        """Do nothing."""
