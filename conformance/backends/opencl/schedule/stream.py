"""Folds and moves of long runs, and moves of rows of them.

There is a kernel of its own for each operation, dtypes and numbers of storages.

An item folds by vectors where C has the operation on them, to the bit. Else it takes ``BLOCK`` elements to private
memory before it stores them, so that the compiler makes vectors of any dtype.
"""

from __future__ import annotations

from typing import Final

from conformance.backends.opencl.graph.view import View
from conformance.backends.opencl.render.kernels import SLOTS, Body, Stream
from conformance.backends.opencl.schedule.item import Work
from conformance.backends.opencl.settings import Settings

FOLDED: Final = frozenset({"sum", "product", "max", "min", "and", "or", "xor"})

ROW: Final = 32
"""Elements from which a row is moved by itself, one item a row, and not element by element.

Of 2,048 by 2,048 floats on four devices, 5 to 90 columns of each part went elsewhere in 4.3 ms of processor time, and
in 7.0 ms where only rows of 128 were.
"""


def streamed(body: Body, work: Work, settings: Settings) -> Body:
    """Return the streaming body that does ``work``, or ``body`` where there is none or the run is too short for it."""
    views = [view for _, view in (*work.loads, *work.stores)]
    slots = [slot for slot, _ in work.loads]
    if (
        body.operation not in FOLDED
        or work.size < settings.stream_from
        or work.mode != "plain"
        or body.within
        or slots != list(range(len(slots)))
        or any(view.strides != (1,) for view in views)
    ):
        return body
    return body._replace(stream=Stream(len(slots), len(work.stores)))


def moved(body: Body, works: tuple[Work, ...], settings: Settings) -> Body:
    """Return the streaming body that moves all of ``works``, or ``body`` where they are no runs or too short."""
    views = [tuple(view for _, view in (*work.loads, *work.stores)) for work in works]
    size = sum(work.size for work in works)
    if any(len(each) < 2 or not runs(each) for each in views) or size < settings.stream_from:
        return body
    return body._replace(stream=Stream(SLOTS, 1))


def runs(views: tuple[View, ...]) -> bool:
    """Return whether views of one shape, their axes joined, are one run of elements each, or rows of long ones."""
    shape = views[0].shape
    long = len(shape) == 1 or shape[-1] >= ROW
    return long and all(view.strides[-1] == 1 for view in views)
