"""PyTorch under test: ``torch.distributed`` over Gloo, one real process a rank.

``Torch`` maps every operation to the c10d call of that meaning, ``TorchFunctional`` to the functional
collective, ``TorchChecked`` has c10d compare the calls of the ranks, and ``TorchCompile`` has graphs compiled. None
imports Torch before it is constructed.
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final

from conformance.backends.base import Backend, Claims, Types, Unsupported
from conformance.backends.torch import claims
from conformance.backends.torch.error_messages import complaining
from conformance.backends.torch.operation import Operation
from conformance.backends.torch.typed import claims as typed
from conformance.cases.case import Case
from conformance.cases.declarations.guarantees import Guarantee
from conformance.cases.declarations.number_model import Declared
from conformance.cases.graph.case import GraphCase
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation
from conformance.cases.schedule.schedule import Schedule as NeutralSchedule
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.tensor.dtypes import Array
from conformance.cases.tensor.tensor import Tensor, from_array
from conformance.cases.types.typed_case import TypedCase

if TYPE_CHECKING:
    from conformance.backends.launched import Launched
    from conformance.backends.torch.dtensor_ranks import Ranks
    from conformance.backends.torch.processes.schedule import Schedule
    from conformance.backends.torch.processes.store import Store
    from conformance.backends.torch.typed.ranks import Ranks as TypedRanks
    from conformance.cases.types.typed_case import Level
    from conformance.cases.types.typed_program import TypedProgram


LAUNCH: Final = "CONFORMANCE_TORCH_LAUNCH"
"""The variable with the user's own launcher of ranks (``torch.launched``)."""


class Torch(Backend):
    """c10d collectives on Gloo process groups; raise ``ImportError`` when Torch is not installed."""

    name = "torch"
    system = "torch"
    adapts = True
    form: ClassVar[str] = "c10d"
    checked: ClassVar[bool] = False

    def __init__(self) -> None:
        """Import Torch, which every rank process then inherits already imported."""
        with _no_collections():
            self._operations = self.operations()
            torch = import_module("torch")
        # Ranks share few cores, and threads started here would not survive the fork.
        torch.set_num_threads(1)
        self._version = str(torch.__version__)
        # Imports Torch, so not at the top: a listing of backends must not need it.
        schedule = import_module("conformance.backends.torch.processes.schedule")
        self._ranks: dict[int, Ranks] = {}
        self._typed_ranks: dict[int, TypedRanks] = {}
        self._store: Store | None = None
        self._launch = os.environ.get(LAUNCH, "") if self.form == "c10d" and not self.checked else ""
        self._schedule: Schedule | Launched = schedule.Schedule(self._operations, checked=self.checked)
        if self._launch:
            self._schedule = import_module("conformance.backends.torch.launched").launched(self._operations)

    def operations(self) -> dict[str, Operation]:
        """Return the function that carries each operation; ranks inherit it by fork."""
        plain = import_module("conformance.backends.torch.c10d").OPERATIONS
        return {**plain, **import_module("conformance.backends.torch.c10d_forms").FORMS}

    @property
    def claims(self) -> Claims:
        """Return what the documentation of ``torch.distributed`` supports; of launched ranks collectives alone."""
        if self._launch:
            within: Claims = import_module("conformance.backends.torch.launched").COMMAND.within(claims.C10D)
            return within
        placed: Claims = import_module("conformance.backends.torch.dtensor").CLAIMS
        graphs: Claims = import_module("conformance.backends.torch.graphs").CLAIMS
        return {**claims.C10D, **graphs, **placed, **typed.C10D}

    @property
    def follows(self) -> tuple[str, ...]:
        """Return the source whose documented divergences are this framework's."""
        return ("torch",)

    @property
    def guarantees(self) -> Sequence[Guarantee]:
        """Return what the documentation of ``torch.distributed`` guarantees."""
        return claims.C10D_GUARANTEES

    @property
    def patience(self) -> float:
        """Return the seconds after which every rank has given up, whether what it waited for was late or never came."""
        return claims.PATIENCE

    @property
    def case_limit(self) -> float:
        """Return two minutes for launched ranks: the first case of a world waits for as many imports of Torch."""
        return 120.0 if self._launch else 0.0

    def describe(self) -> dict[str, str]:
        """Return the version, the process group backend and how ranks run."""
        return {
            "torch": self._version,
            "process group": "gloo over TCP on the loopback device",
            "collectives": self.form,
            "TORCH_DISTRIBUTED_DEBUG": "DETAIL" if self.checked else "OFF",
            "ranks": "one forked process a rank, kept for each world size",
            "threads": "1 a rank",
            **({"process group": "gloo", "ranks": f"by {self._launch}"} if self._launch else {}),
        }

    def execute(self, case: Case) -> Observation:
        """Run one case on the ranks of its world and return what happened."""
        return next(iter(self.execute_many((case,))))

    def execute_many(self, cases: Sequence[Case]) -> Iterable[Observation]:
        """Yield one observation a case, in order, while the worlds of the batch work at the same time."""
        return self._schedule.run(cases)

    def run_graph(self, case: GraphCase) -> Mapping[str, Array]:
        """Run a graph eagerly, in this process."""
        with complaining():
            found: Mapping[str, Array] = import_module("conformance.backends.torch.graphs").run(case)
        return found

    def sharded(self, case: ShardedCase) -> Observation:
        """Run a program on distributed tensors, a process a device; never raise."""
        if case.world not in self._ranks:
            ranks = import_module("conformance.backends.torch.dtensor_ranks").Ranks
            self._ranks[case.world] = ranks(case.world, self._meetings())
        found: Observation = self._ranks[case.world].run(case)
        return found

    def differentiable(self) -> dict[str, Operation]:
        """Return the function that carries each operation where autograd goes through it."""
        found: dict[str, Operation] = import_module("conformance.backends.torch.typed.differentiable").OPERATIONS
        return found

    def pullback(
        self, program: TypedProgram, inputs: Mapping[str, list[Array]], cotangents: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the gradients of the inputs by ``torch.autograd.grad``, a process a rank."""
        given = {name: tuple(map(from_array, blocks)) for name, blocks in cotangents.items()}
        return self._asked(TypedCase(program=program, inputs=_stored(inputs), cotangents=given))[1]

    def typed(self, program: TypedProgram, inputs: Mapping[str, list[Array]]) -> tuple[Types, dict[str, list[Array]]]:
        """Return the placements of distributed tensors as types, and the blocks of results."""
        return self._asked(TypedCase(program=program, inputs=_stored(inputs)))

    def batched(
        self, program: TypedProgram, levels: Sequence[Level], inputs: Mapping[str, list[Array]]
    ) -> dict[str, list[Array]]:
        """Return the results under ``torch.func.vmap``, a process a rank."""
        return self._asked(TypedCase(program=program, inputs=_stored(inputs), batch=tuple(levels)))[1]

    def _asked(self, case: TypedCase) -> tuple[Types, dict[str, list[Array]]]:
        world = case.program.world
        if world not in self._typed_ranks:
            ranks = import_module("conformance.backends.torch.typed.ranks").Ranks
            self._typed_ranks[world] = ranks(world, self._meetings(), self.differentiable())
        return self._typed_ranks[world].ask(case)

    def _meetings(self) -> Store:
        if self._store is None:
            self._store = import_module("conformance.backends.torch.processes.store").Store()
        return self._store

    def close(self) -> None:
        """Kill every rank process."""
        self._schedule.close()
        for ranks in self._ranks.values():
            ranks.close()
        for typed_ranks in self._typed_ranks.values():
            typed_ranks.close()
        if self._store is not None:
            self._store.close()


class TorchChecked(Torch):
    """c10d collectives on process groups that compare the calls of their ranks: ``TORCH_DISTRIBUTED_DEBUG=DETAIL``."""

    name = "torch-checked"
    system = "torch-checked"
    checked = True

    @property
    def claims(self) -> Claims:
        """Return what the documentation supports, and of that debug level promises."""
        return claims.CHECKED


class TorchCompile(Backend):
    """Graphs through ``torch.compile``, each round one function; raise ``ImportError`` when Torch is not installed.

    A graph takes seconds to compile, so that few examples are asked in the time of others. They are not asked about in
    company: four as one function took 8.5 s of processor time each, and 6.1 alone (torch 2.13.0, fresh processes).
    """

    name = "torch-compile"
    system = "torch-compile"
    adapts = True

    def __init__(self) -> None:
        """Import Torch, and let the process compile in as few threads as the machine has to spare."""
        with _no_collections():
            torch = import_module("torch")
            self._graphs = import_module("conformance.backends.torch.compiled_graphs")
        torch.set_num_threads(1)
        settings: Any = import_module("torch._inductor.config")
        settings.compile_threads = 1
        self._version = str(torch.__version__)

    @property
    def claims(self) -> Claims:
        """Return what the documentation of ``torch`` supports."""
        found: Claims = self._graphs.CLAIMS
        return found

    @property
    def number_model(self) -> Declared:
        """Return what the compiler chooses about numbers."""
        found: Declared = self._graphs.NUMBERS
        return found

    def describe(self) -> dict[str, str]:
        """Return the version and the compiler."""
        return {
            "torch": self._version,
            "compiler": "inductor, full graphs, static shapes",
            "schedules": "of a traced function, with emulate_precision_casts",
            "threads": "1",
        }

    @property
    def case_limit(self) -> float:
        """Return two minutes: a graph took 2 to 10 s on a loaded machine, and the first of a process 47 s."""
        return 120.0

    @property
    def examples(self) -> int:
        """Return 180: some 70 of them lie within its claims, and are compiled within ten minutes on a busy core."""
        return 180

    def run_graph(self, case: GraphCase) -> Mapping[str, Array]:
        """Compile each round of a graph and run it, in this process."""
        with complaining():
            found: Mapping[str, Array] = self._graphs.run(case)
        return found

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> NeutralSchedule:
        """Return what Inductor's scheduler makes of a graph, up to the code, of which nothing is built or run."""
        if isinstance(asked, Case):
            raise Unsupported("a schedule is read of a graph that is compiled for one device")
        with complaining():
            found: NeutralSchedule = import_module("conformance.backends.torch.inductor.schedule").schedule(
                asked, planned=planned
            )
        return found


class TorchFunctional(Torch):
    """Functional collectives on Gloo process groups."""

    name = "torch-functional"
    system = "torch-functional"
    form = "functional collectives"

    def operations(self) -> dict[str, Operation]:
        """Return the functional carriers; their first call would import Dynamo in every rank, so import it here."""
        found: dict[str, Operation] = import_module("conformance.backends.torch.functional").OPERATIONS
        import_module("torch._dynamo")
        return dict(found)

    def differentiable(self) -> dict[str, Operation]:
        """Return the functional carriers, through which autograd goes."""
        return self.operations()

    @property
    def claims(self) -> Claims:
        """Return what the documentation of the functional collectives supports."""
        return {**claims.FUNCTIONAL, **typed.FUNCTIONAL}

    @property
    def guarantees(self) -> Sequence[Guarantee]:
        """Return what the documentation of the functional collectives guarantees."""
        return claims.FUNCTIONAL_GUARANTEES


@contextlib.contextmanager
def _no_collections() -> Iterator[None]:
    """Collect no garbage: what imports make stays, and looking all of it through took a seventh of their time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _stored(inputs: Mapping[str, list[Array]]) -> dict[str, tuple[Tensor, ...]]:
    return {name: tuple(map(from_array, blocks)) for name, blocks in inputs.items()}
