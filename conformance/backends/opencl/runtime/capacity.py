"""Whether the devices can hold what a graph needs, asked before anything of it runs."""

from __future__ import annotations

from collections import defaultdict

from conformance.backends.opencl.dry_run import DryRun
from conformance.backends.opencl.formats import FORMATS
from conformance.backends.opencl.graph.node import Node
from conformance.backends.opencl.runtime.platform import Platform


class TooLargeError(MemoryError):
    """A graph needs more memory than the devices have."""


def check_fits(dry_run: DryRun, platform: Platform) -> None:
    """Raise ``TooLargeError`` where a value is larger than a buffer may be, or all of a round than the memory is.

    Logical devices that are queues of one device share its memory.
    """
    devices = [queue.device for queue in platform.queues]
    needed: dict[int, int] = defaultdict(int)
    counted: dict[int, set[int]] = defaultdict(set)
    for node, place in dry_run.schedule.places.items():
        device = devices[platform.queue_of(node.device)]
        size = node.size * FORMATS[node.dtype].itemsize
        if size > device.max_mem_alloc_size:
            raise TooLargeError(
                f"{_named(node)} needs {size} bytes, and a buffer of {device.name} has at most "
                f"{device.max_mem_alloc_size}"
            )
        if place not in counted[device.int_ptr]:
            counted[device.int_ptr].add(place)
            needed[device.int_ptr] += dry_run.schedule.sizes[place]
        if needed[device.int_ptr] > device.global_mem_size:
            raise TooLargeError(
                f"the graph needs more memory than the {device.global_mem_size} bytes of {device.name}, counted up to "
                f"{_named(node)}"
            )


def _named(node: Node) -> str:
    """Return what a node is called in the graph, where it is called anything."""
    asked = getattr(node, "asked", "") or getattr(node, "name", "")
    return f"node {asked!r}" if asked else f"a value of {node.size} {node.dtype}"
