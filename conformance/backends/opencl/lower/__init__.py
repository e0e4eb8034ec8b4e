"""A collective becomes nodes on single devices and copies between them, by interchangeable algorithms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from conformance.backends.opencl.graph import Buffer, Collective, Elementwise, Movement, Output
from conformance.backends.opencl.lower.choose import choose
from conformance.backends.opencl.lower.direct import direct
from conformance.backends.opencl.lower.naive import naive
from conformance.backends.opencl.lower.ring import ring
from conformance.backends.opencl.settings import Algorithm, Settings
from conformance.backends.opencl.view import contiguous

Lowering = Callable[[Collective, tuple[int, ...]], dict[int, Movement]]
"""Take a collective and one of its groups; return what each member receives."""

LOWERINGS: Final[dict[Algorithm, Lowering]] = {"naive": naive, "ring": ring, "direct": direct}


def lower(results: dict[str, tuple[Movement, ...]], settings: Settings) -> dict[str, tuple[Movement, ...]]:
    """Return the results with per-device nodes for every collective, each block in C order in its own storage."""
    done: dict[Collective, dict[int, Movement]] = {}

    def resolve(block: Movement) -> Movement:
        # Programs are short, so collectives nest a few deep at most; recursion is safe.
        if not isinstance(block.node, Output):
            return block
        made = block.node.collective
        if made not in done:
            inputs = tuple(resolve(each) for each in made.blocks)
            ready = msgspec.structs.replace(made, blocks=inputs)
            found: dict[int, Movement] = {}
            for group in made.groups:
                algorithm = choose(made.operation, inputs[0].view.size, len(group), settings)
                found.update(LOWERINGS[algorithm](ready, group))
            done[made] = found
        return done[made][block.node.device]

    return {name: tuple(_stored(resolve(block)) for block in blocks) for name, blocks in results.items()}


def _stored(block: Movement) -> Movement:
    """Return the block in storage that no input shares: a result that is an input is still a fresh value."""
    node, shape = block.node, block.view.shape
    if not isinstance(node, Buffer):
        return block
    return Movement(Elementwise(node.device, node.dtype, block.view.size, block), contiguous(shape))
