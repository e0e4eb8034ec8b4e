"""The text and the work-items of a launch: by vectors where all of it can be, else point by point."""

from __future__ import annotations

import hashlib
import math

from conformance.backends.opencl.graph.node import Launch
from conformance.backends.opencl.render import forms
from conformance.backends.opencl.render.multiplied import Multiplied
from conformance.backends.opencl.render.point import Text, along_rows, by_last_axis, by_rows
from conformance.backends.opencl.render.vectors import Vectors


def geometry(launch: Launch, local: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of work-items and of those of a group, whose size is at most ``local``, along each axis."""
    found = forms.form(launch)
    if found is not None:
        return forms.geometry(launch, found)
    extents = launch.extents[: launch.outer]
    count = math.prod(extents)
    if by_rows(launch):
        return (math.prod(extents[:-1]),), (1,)
    if along_rows(launch):
        return (count,), (1,)
    if by_last_axis(launch):
        return (-(-extents[-1] // local) * local, count // extents[-1]), (local, 1)
    return (-(-count // local) * local,), (local,)


def named(text: str) -> str:
    """Return the name of the kernel of ``text``."""
    return f"fused_{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def fused(launch: Launch) -> str:
    """Return the OpenCL C of a launch, with ``NAME`` for its name."""
    return _rendered(launch)[0]


def numbers(launch: Launch) -> tuple[int, ...]:
    """Return the numbers that the kernel of a launch takes as arguments, none of one that is not generic."""
    return _rendered(launch)[1]


def program(launch: Launch) -> str:
    """Return the name of what is launched: the kernel, its numbers, and the dtypes of which its text knows the bits."""
    stored = [dtype for _, dtype in launch.stores]
    text, given = _rendered(launch)
    return named("\n".join((text, *map(str, given), *(node.dtype for node, _ in launch.reads), *stored)))


def _rendered(launch: Launch) -> tuple[str, tuple[int, ...]]:
    found = forms.form(launch)
    text = Text(launch) if found is None else (Multiplied if found.product else Vectors)(launch, found)
    return text.kernel(), tuple(text.numbers)
