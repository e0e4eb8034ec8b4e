"""The native implementation: graph, lowering, scheduling, code generation and a runtime over OpenCL devices."""

from __future__ import annotations

import time
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from conformance.backends.base import Backend, Claims, Placed, Unsupported, place_inputs, rank_error, touched
from conformance.backends.opencl.attributes import WANTED
from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph import Movement
from conformance.backends.opencl.lower import lower
from conformance.backends.opencl.render import SLOTS
from conformance.backends.opencl.runtime import NoPlatformError
from conformance.backends.opencl.schedule import schedule
from conformance.backends.opencl.settings import Settings, from_environment
from conformance.backends.opencl.trace import Traced, trace
from conformance.cases.case import Case
from conformance.cases.dtypes import Array
from conformance.cases.observation import Observation
from conformance.cases.tensor import Tensor, to_array

if TYPE_CHECKING:
    from conformance.backends.opencl.runtime.session import Session

LARGEST: Final = SLOTS
"""The most ranks a world may have: a kernel reads so many storages, one for each rank."""


class OpenCL(Backend):
    """Runs whole programs on the devices of one OpenCL platform, each rank on its own device where there are enough."""

    name = "opencl"

    def __init__(self, settings: Settings | None = None) -> None:
        """Take ``settings``, else what the environment asks for; devices are opened when first needed."""
        self.settings = from_environment() if settings is None else settings

    @property
    def claims(self) -> Claims:
        """Return every operation, with every dtype of ``formats`` in worlds of 1 to 8."""
        limits = {"dtype": tuple(FORMATS), "world": tuple(str(world) for world in range(1, LARGEST + 1))}
        return dict.fromkeys(WANTED, limits)

    @cached_property
    def session(self) -> Session:
        """The open devices; raise ``NoPlatformError`` when there are none."""
        try:
            from conformance.backends.opencl.runtime.session import Session
        except ImportError as error:
            message = f"the opencl backend needs pyopencl: pip install 'mesh-conformance[opencl]' ({error})"
            raise NoPlatformError(message) from error
        return Session(self.settings)

    def describe(self) -> dict[str, str]:
        """Return platform, driver, devices, versions and the settings that choose algorithms."""
        chosen = {f"settings {name}": str(value) for name, value in asdict(self.settings).items()}
        return {**self.session.platform.description, **chosen}

    def execute(self, case: Case) -> Observation:
        """Run the program of ``case`` and return what happened; never raise."""
        start = time.perf_counter()
        placed = place_inputs(case)
        try:
            results = self._run(case, placed)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is the observation
            return Observation(
                errors=(rank_error(error),) * case.program.world,
                touched=touched(case, placed),
                seconds=time.perf_counter() - start,
            )
        seconds = time.perf_counter() - start
        return Observation(results=results, touched=touched(case, placed), seconds=seconds)

    def _run(self, case: Case, placed: Placed) -> dict[str, tuple[Tensor | None, ...]]:
        """Trace, lower, schedule and launch the program; the inputs come back as the devices left them."""

        def read(blocks: tuple[Movement, ...]) -> list[Array]:
            found = self._compute(Traced({"": blocks}, ()), placed)[""]
            return [to_array(tensor) for tensor in found if tensor is not None]

        traced = trace(case.program, placed, read)
        if case.program.world > LARGEST:
            raise Unsupported(f"a world of {case.program.world} is outside the claims: 1 to {LARGEST} ranks")
        return self._compute(traced, placed)

    def _compute(self, traced: Traced, placed: Placed) -> dict[str, tuple[Tensor | None, ...]]:
        lowered = lower(traced.results, self.settings)
        wanted = tuple(block for blocks in lowered.results.values() for block in blocks if block is not None)
        plan = schedule(wanted, self.session.platform.alignment, lowered.stages, traced.barriers)
        inputs = {(name, r): pair[0].view(np.uint8) for name, ranks in placed.items() for r, pair in enumerate(ranks)}
        launch = self.session.launch(plan, inputs)
        try:
            read = {block: launch.read(block.node) for block in wanted}
            launch.read_inputs()
        finally:
            launch.close()

        def tensor(block: Movement) -> Tensor:
            return Tensor(dtype=block.node.dtype, shape=block.view.shape, bits=read[block].tobytes().hex())

        return {
            name: tuple(None if block is None else tensor(block) for block in blocks)
            for name, blocks in lowered.results.items()
        }
