"""The values of a program that Inductor compiled for each rank, run over Gloo with a thread for each rank."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d
from torch._inductor import compile as compile_with_inductor
from torch.testing._internal.distributed import multi_threaded_pg

from conformance.backends.attribution import framework
from conformance.backends.case_arrays import Placed
from conformance.backends.torch.inductor.capture import OPTIONS
from conformance.backends.torch.inductor.fake_group import rank_of
from conformance.backends.torch.inductor.passes import settings
from conformance.backends.torch.inductor.traced_program import TracedProgram
from conformance.backends.torch.processes.rank import Communicators, to_tensor
from conformance.cases.case import Case
from conformance.cases.program.program import Groups, rank_groups
from conformance.cases.tensor.tensor import Tensor

TIMEOUT: Final = timedelta(seconds=20)
"""How long a rank waits for others, which only run what is compiled already."""


@dataclass
class Compiled:
    """The function of a rank, and the groups that it enters, in order."""

    traced: TracedProgram
    call: Callable[..., Sequence[torch.Tensor]]
    given: Sequence[torch.Tensor]

    def results(self) -> dict[str, Tensor | None]:
        """Run the function, and return the results of this rank by name."""
        with framework():
            made = self.call(*self.given)
        return {name: to_tensor(value) for name, value in zip(self.traced.results, made, strict=True)}


def values(case: Case, passes: Sequence[str] = ()) -> tuple[dict[str, tuple[Tensor | None, ...]], Placed]:
    """Return the blocks of each result, and the storages of inputs and buffers afterwards; raise what Torch raises."""
    world = case.program.world
    ranks = [_compiled(case, rank, passes) for rank in range(world)]
    groups = [
        rank_groups(case.program.mesh, step.axes, step.groups) for step in case.program.collectives if not step.idle
    ]
    found: list[dict[str, Tensor | None]] = [{} for _ in range(world)]
    errors: list[Exception] = []
    store = dist.HashStore()  # type: ignore[attr-defined]  # exported, but not in its stubs

    def life(rank: int) -> None:
        try:
            dist.init_process_group("gloo", store=store, rank=rank, world_size=world, timeout=TIMEOUT)
            _enter(Communicators(rank, world, TIMEOUT), groups)
            found[rank] = ranks[rank].results()
        except Exception as error:  # noqa: BLE001 - whatever a rank raises is what happened
            errors.append(error)

    with _threads():
        threads = [threading.Thread(target=life, args=(rank,), daemon=True) for rank in range(world)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    results = {name: tuple(each.get(name) for each in found) for name in dict.fromkeys(case.program.results)}
    return results, {name: [each.traced.placed[name][0] for each in ranks] for name in ranks[0].traced.placed}


def _compiled(case: Case, rank: int, passes: Sequence[str]) -> Compiled:
    with rank_of(rank, case.program.world) as communicators:
        traced = TracedProgram(case, rank)
        module = traced.traced(communicators)
        # One-shot needs devices with symmetric memory. Here C++ is built, so whether it can be for vectors is tried.
        options = {**OPTIONS, **settings([name for name in passes if name != "one_shot"])}
        del options["cpp.vec_isa_ok"]
        with framework():
            call: Any = compile_with_inductor(module, list(traced.given), options)
        return Compiled(traced, call, traced.given)


def _enter(communicators: Communicators, groups: Sequence[Groups]) -> None:
    """Make the process groups in the order in which they were made when the program was traced."""
    for each in groups:
        communicators.of(each)


@contextlib.contextmanager
def _threads() -> Iterator[None]:
    """Let each thread be a rank of its own meanwhile, as Torch's own tests do."""
    known = dist.distributed_c10d._world  # noqa: SLF001 - Torch's own tests use it
    isolated: Any = _distributed_c10d._set_thread_isolation_mode  # type: ignore[attr-defined]  # noqa: SLF001 - as above
    isolated(True)
    dist.distributed_c10d._world = multi_threaded_pg.ThreadLocalWorld()  # type: ignore[assignment]  # noqa: SLF001 - as above
    try:
        yield
    finally:
        dist.distributed_c10d._world = known  # noqa: SLF001 - as above
        isolated(False)
