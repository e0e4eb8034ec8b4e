"""Where the operands of collectives lie, and by which algorithm they are reduced."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.fuse.bucketing import calls
from conformance.backends.opencl.graph.node import Collective, Elementwise, Movement, whole
from conformance.backends.opencl.graph.registration import Group, Registered, computed, meetings_of, registrable
from conformance.backends.opencl.graph.trace import Traced
from conformance.backends.opencl.lower.algorithm import choose
from conformance.backends.opencl.settings import Algorithm, Settings


class Operands:
    """The operands of ``collectives``, in their order, and those of them that lie in communication buffers so far.

    ``calls`` has which call each collective is a piece of.
    """

    def __init__(self, collectives: Sequence[Collective], traced: Traced, settings: Settings) -> None:
        """Look at who takes what, and which of it is asked for."""
        self.calls = calls(collectives, settings.bucket_upto)
        self.registered: list[Registered] = []
        self._settings, self._meetings = settings, meetings_of(collectives)
        self._results = {block.node for blocks in traced.results.values() for block in blocks if block is not None}

    def algorithm(self, made: Collective, group: Group, inputs: Sequence[Movement]) -> Algorithm:
        """Return the algorithm for a group of a collective whose lowered operands are ``inputs``."""
        block = inputs[group[0]]
        return choose(
            made.operation,
            block.view.size,
            len(group),
            self._settings,
            width=FORMATS[block.node.dtype].itemsize,
            realized=computed(inputs[rank] for rank in group),
            pieces=self.calls[made].pieces,
        )

    def placed(
        self, made: Collective, group: Group, inputs: Sequence[Movement], algorithm: Algorithm
    ) -> tuple[Movement, ...]:
        """Return the operands of a group in communication buffers, where they can lie there.

        One-shot takes them from nowhere else, so that for it they are copied where they cannot, unless it is forced.
        """
        if not self._settings.pool:
            return tuple(inputs)
        asked, lowered = [made.blocks[rank] for rank in group], [inputs[rank] for rank in group]
        nodes = tuple(block.node for block in lowered)
        fits = registrable(group, asked, lowered, self._meetings, self._results)
        needed = algorithm == "one_shot" and self._settings.force is None
        blocks = list(inputs)
        if not fits:
            if not needed or not lowered[0].view.size:
                return tuple(inputs)
            for rank, block in zip(group, lowered, strict=True):
                packed = Elementwise(block.node.device, block.node.dtype, block.view.size, block)
                blocks[rank] = whole(packed, block.view.shape)
            nodes = tuple(blocks[rank].node for rank in group)
        self.registered.append(Registered(group, nodes, needed))
        return tuple(blocks)
