"""Schedules by torch.compile's compiler, Inductor, stopped where it would build its code.

``TorchInductor`` has the schedules of programs of collectives. It imports Torch when it is constructed.
"""

from __future__ import annotations

import time
import warnings
from importlib import import_module
from typing import Any

from conformance.backends.base import Backend, Claims, Unsupported
from conformance.backends.case_arrays import place_inputs, touched
from conformance.backends.exceptions import rank_error
from conformance.backends.torch.error_messages import complaining
from conformance.backends.torch.inductor import claims
from conformance.cases.case import Case
from conformance.cases.graph.graph import Graph
from conformance.cases.observation import Observation, RankError
from conformance.cases.schedule.schedule import Schedule
from conformance.cases.tensor.tensor import Tensor


class TorchInductor(Backend):
    """Programs of functional collectives, compiled once for each rank under a fake process group, in this process.

    ``CONFORMANCE_TORCH_INDUCTOR_PASSES`` names passes that are to be on (``passes.PASSES``). Raise ``ImportError`` when
    Torch is not installed, and ``ValueError`` for a pass that there is not.
    """

    name = "torch-inductor"
    system = "torch-functional"
    adapts = True

    def __init__(self) -> None:
        """Import Torch."""
        torch = import_module("torch")
        with warnings.catch_warnings():
            # Modules of its own use what Torch deprecates.
            warnings.simplefilter("ignore", DeprecationWarning)
            import_module("torch._inductor.compile_fx")
        self._schedules = import_module("conformance.backends.torch.inductor.program_schedule")
        torch.set_num_threads(1)
        settings: Any = import_module("torch._inductor.config")
        settings.compile_threads = 1
        self._version = str(torch.__version__)
        self._switches = import_module("conformance.backends.torch.inductor.passes")
        self._passes: tuple[str, ...] = self._switches.chosen()
        self._last: tuple[Case | Graph | None, Any] = None, None

    @property
    def claims(self) -> Claims:
        """Return what functional collectives are documented for, and Inductor lowers."""
        return claims.CLAIMS

    def describe(self) -> dict[str, str]:
        """Return the version, and what is compiled."""
        return {
            "torch": self._version,
            "compiler": "inductor, once for each rank, caches off; no C++ is built",
            "passes": ", ".join(self._passes) or "those that are on by default",
            "process group": "fake",
            "threads": "1",
        }

    @property
    def case_limit(self) -> float:
        """Return two minutes: C++ is built for each rank, which takes seconds, and many on a loaded machine."""
        return 120.0

    @property
    def examples(self) -> int:
        """Return 60: a program takes seconds to compile for all of its ranks."""
        return 60

    def execute(self, case: Case) -> Observation:
        """Compile a program for each rank, C++ included, and run it over Gloo; never raise."""
        began = time.perf_counter()
        placed = place_inputs(case)
        results: dict[str, tuple[Tensor | None, ...]] = {}
        errors: tuple[RankError, ...] = ()
        try:
            _untroubled(case)
            with complaining():
                compiled = import_module("conformance.backends.torch.inductor.compiled_values")
                results, placed = compiled.values(case, self._passes)
        except Exception as error:  # noqa: BLE001 - whatever Torch raises is the observation
            errors = (rank_error(error, adapts=self.adapts),) * case.program.world
        seen = touched(case, placed, inside=bool(errors))
        return Observation(results=results, errors=errors, touched=seen, seconds=time.perf_counter() - began)

    def schedule(self, asked: Case | Graph, *, planned: bool = True) -> Schedule:
        """Return what Inductor makes of a program on all of its ranks."""
        made = self._made(asked, planned=planned, passes=self._passes)
        self._last = asked, made
        found: Schedule = made.schedule
        return found

    def reschedule(
        self, asked: Case | Graph, *, iteration: int = 0, switched: bool = False, costs: int | None = None
    ) -> Schedule:
        """Return what Inductor makes with other passes, or of random costs; or what it does when it is run again.

        What it made is a text, whose allocations are asked for anew in each run, by the names that the text gives them.
        """
        if iteration:
            known, made = self._last
            if made is None or asked != known:
                raise Unsupported("a later iteration of what was not compiled last")
            later: Schedule = made.later(iteration)
            return later
        passes = self._switches.others(self._passes) if switched else self._passes
        found: Schedule = self._made(asked, passes=passes, costs=costs).schedule
        return found

    def _made(self, asked: Case | Graph, **more: Any) -> Any:
        """Return what was compiled, a ``program_schedule.Compiled``."""
        if isinstance(asked, Graph):
            raise Unsupported("a schedule is read of a program of collectives")
        _untroubled(asked)
        with complaining():
            return self._schedules.compiled(asked, **more)


def _untroubled(case: Case) -> None:
    """Refuse what befalls ranks."""
    if case.troubled:
        raise Unsupported("a rank that is late or dies is none of a compiler's")
