"""Cases in, observations out, in order, while the worlds among the cases work at the same time.

Gloo on one machine mostly waits (measured on two cores: an all_reduce over 8 ranks takes 12 ms, of which
both cores together compute 7), so one lane a world, all lanes at once, fills the time.
"""

from __future__ import annotations

import math
import selectors
import time
from collections.abc import Iterator, Mapping, Sequence

from conformance.backends.base import Unsupported, rank_error
from conformance.backends.torch.lane import Lane
from conformance.backends.torch.operation import Operation
from conformance.cases.case import Case
from conformance.cases.observation import Observation
from conformance.cases.program import rank_groups


class Schedule:
    """A lane for each world size met so far."""

    def __init__(self, operations: Mapping[str, Operation]) -> None:
        """Start nothing yet; ranks run ``operations``."""
        self._operations = operations
        self._selector = selectors.DefaultSelector()
        self._lanes: dict[int, Lane] = {}

    def run(self, cases: Sequence[Case]) -> Iterator[Observation]:
        """Yield one observation a case, in the order of the cases."""
        found: dict[int, Observation] = {}
        for key, case in enumerate(cases):
            reason = refusal(case, self._operations)
            if reason:
                found[key] = Observation(errors=(rank_error(Unsupported(reason)),) * case.program.world)
            else:
                self._lane(case.program.world).add(key, case)
        try:
            for key in range(len(cases)):
                while key not in found:
                    self._work(found)
                yield found.pop(key)
        finally:
            for lane in self._lanes.values():
                if not lane.idle:
                    lane.drop()
                lane.done.clear()

    def close(self) -> None:
        """Kill every rank process."""
        for lane in self._lanes.values():
            lane.drop()
        self._lanes.clear()

    def _lane(self, world: int) -> Lane:
        if world not in self._lanes:
            self._lanes[world] = Lane(world, self._operations, self._selector)
        return self._lanes[world]

    def _work(self, found: dict[int, Observation]) -> None:
        """Wait for any lane, let it go on and collect what is done."""
        for lane in self._lanes.values():
            lane.go()
        alarm = min((lane.alarm for lane in self._lanes.values()), default=math.inf)
        for ready, _ in self._selector.select(None if alarm == math.inf else max(alarm - time.monotonic(), 0)):
            lane, number, rank = ready.data
            lane.read(number, rank)
        for lane in self._lanes.values():
            if time.monotonic() >= lane.alarm:
                lane.tick()
            found.update(lane.done)
            lane.done.clear()


def refusal(case: Case, operations: Mapping[str, Operation]) -> str | None:
    """Return why Torch cannot be asked to run ``case``, or ``None``."""
    if any("flipped" in operand.layouts for operand in case.inputs.values()):
        return "torch.from_numpy takes no negative strides"
    if any(block.dtype in ("int4", "uint4") for operand in case.inputs.values() for block in operand.blocks):
        return "Torch has no tensors of 4-bit integers"
    program = case.program
    for step in program.steps:
        if step.op not in operations:
            return f"Torch has no carrier for {step.op}; it has {', '.join(sorted(operations))}"
        try:
            groups = rank_groups(program.mesh, step.axes, step.groups)
        except ValueError as error:
            return str(error)
        if not all(groups) or sorted(rank for group in groups for rank in group) != list(range(program.world)):
            return f"process groups {list(groups)} do not give each of the {program.world} ranks exactly one group"
    return None
