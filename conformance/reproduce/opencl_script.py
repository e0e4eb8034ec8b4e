"""A case as a script of pyopencl alone: the commands that the native engine enqueued, replayed one by one.

The engine runs the case once more, in this process, while every call that makes memory, builds a kernel or enqueues
a command is written down. What it decides before any command (a refusal) is not in the commands, and cannot be shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from conformance.backends.base import Backend
from conformance.cases.case import Case
from conformance.cases.tensor.dtypes import NUMPY
from conformance.reproduce.frame import Program
from conformance.reproduce.quote import Quotation

DEFINITIONS: Final = '''\
with registered():
    found = cl.get_platforms()
named = [platform for platform in found if platform.name == PLATFORM] or found
DEVICES = named[0].get_devices()
CONTEXT = cl.Context(DEVICES)
QUEUES = [cl.CommandQueue(CONTEXT, DEVICES[number % len(DEVICES)]) for number in range({queues})]
FLAGS = cl.mem_flags
EVENTS, READ = {{}}, {{}}


def waits(*numbers):
    return [EVENTS[number] for number in numbers] or None


def host(bits):
    return np.frombuffer(bytearray.fromhex(bits), np.uint8)


def read(number, queue, buffer, size, wait_for):
    READ[number] = np.empty(size, np.uint8)
    EVENTS[number] = cl.enqueue_copy(QUEUES[queue], READ[number], buffer, is_blocking=False, wait_for=wait_for)


def block(number, dtype, shape, strides, offset):
    """Return the view of what a read brought; strides and offset are elements."""
    dtype = dtype_of(dtype)
    if number is None or 0 in shape:
        return np.empty(shape, dtype)
    width = dtype.itemsize
    return np.ndarray(shape, dtype, READ[number].data, offset * width, tuple(width * stride for stride in strides))
'''


@dataclass
class Trace:
    """The lines of a script so far, and the names of what they made, by identity; everything named is kept alive."""

    lines: list[str] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    kept: list[Any] = field(default_factory=list)
    events: dict[int, int] = field(default_factory=dict)
    queues: dict[int, int] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    views: list[list[str]] = field(default_factory=list)
    reads: dict[int, int] = field(default_factory=dict)

    def name(self, what: Any, prefix: str) -> str:
        """Name something that was made."""
        found = self.names[id(what)] = f"{prefix}{len(self.names)}"
        self.kept.append(what)
        return found

    def event(self, what: Any) -> int:
        """Number an event."""
        self.kept.append(what)
        return self.events.setdefault(id(what), len(self.events))

    def waits(self, events: Any) -> str:
        """Return the expression of a list of events."""
        return f"waits({', '.join(str(self.events[id(event)]) for event in events or ())})"

    def queue(self, what: Any) -> str:
        """Return the expression of a queue."""
        return f"QUEUES[{self.queues[id(what)]}]"


class NothingEnqueuedError(ValueError):
    """The engine came to its answer without a command on a device."""


def program(case: Case, backend: Backend) -> Program:
    """Return the script's part for the native engine; raise ``NothingEnqueuedError`` where no command was enqueued."""
    from conformance.backends.opencl.runtime import intel

    # One that has done nothing yet: what was made before would not be written down.
    trace, fresh = Trace(), type(backend)()
    with _recorded(fresh, trace):
        seen = fresh.execute(case)
    if seen.raised or not trace.events:
        raise NothingEnqueuedError(
            "the engine refused the case before any command was enqueued, so OpenCL alone cannot show it; "
            "`conformance replay` does"
        )
    session: Any = fresh.session  # type: ignore[attr-defined]  # the native engine's
    platform = session.platform
    quoted = Quotation().add(intel.registered)
    made = ", ".join(
        f"{name!r}: [{', '.join(blocks)}]" for name, blocks in zip(case.program.results, trace.views, strict=True)
    )
    body = [
        "def run(inputs):",
        *(f"    {line}" for line in trace.lines),
        "    for queue in QUEUES:",
        "        queue.finish()",
    ]
    return Program(
        needs="pyopencl and an OpenCL platform, ml_dtypes and numpy",
        setting=(f"PLATFORM = {platform.context.devices[0].platform.name!r}",),
        imports=("import pyopencl as cl", *quoted.imports),
        definitions=(*quoted.definitions.values(), DEFINITIONS.format(queues=len(platform.queues)), *trace.sources),
        body="\n".join([*body, f"    return {{{made}}}"]),
    )


@contextmanager
def _recorded(backend: Any, trace: Trace) -> Iterator[None]:
    """Write down in ``trace`` what the engine does while entered."""
    import pyopencl as cl

    from conformance.backends.opencl.runtime import engine, memory, program_cache

    real = {name: getattr(cl, name) for name in ("Buffer", "Program", "Kernel", "enqueue_copy", "enqueue_fill_buffer", "enqueue_barrier", "enqueue_nd_range_kernel")}  # fmt: skip
    part, reading = memory.Cell.part, engine.Engine.read

    def buffer(context: Any, flags: int, size: int = 0, hostbuf: Any = None) -> Any:
        made = real["Buffer"](context, flags, size=size, hostbuf=hostbuf)
        given = f"size={size}" if hostbuf is None else f"hostbuf=host({np.asarray(hostbuf).tobytes().hex()!r})"
        trace.lines.append(f"{trace.name(made, 'b')} = cl.Buffer(CONTEXT, {flags}, {given})")
        return made

    def sub_buffer(cell: Any, start: int, stop: int) -> Any:
        made = part(cell, start, stop)
        if id(made) not in trace.names:
            whole = trace.names[id(cell.buffer)]
            trace.lines.append(f"{trace.name(made, 'b')} = {whole}.get_sub_region({start}, {stop - start})")
        return made

    def copy(queue: Any, target: Any, source: Any, wait_for: Any = None, is_blocking: bool = True, **sizes: int) -> Any:
        event = real["enqueue_copy"](queue, target, source, wait_for=wait_for, **sizes) if sizes else real["enqueue_copy"](queue, target, source, wait_for=wait_for, is_blocking=is_blocking)  # fmt: skip
        on, number = trace.queue(queue), trace.event(event)
        if isinstance(target, np.ndarray):
            trace.reads[id(target)] = number
            trace.kept.append(target)
            trace.lines.append(f"read({number}, {trace.queues[id(queue)]}, {trace.names[id(source)]}, {target.nbytes}, {trace.waits(wait_for)})")  # fmt: skip
        elif isinstance(source, np.ndarray):
            trace.lines.append(f"given_{number} = host({source.tobytes().hex()!r})")
            trace.lines.append(f"EVENTS[{number}] = cl.enqueue_copy({on}, {trace.names[id(target)]}, given_{number}, is_blocking=False, wait_for={trace.waits(wait_for)})")  # fmt: skip
        else:
            said = ", ".join(f"{name}={value}" for name, value in sizes.items())
            trace.lines.append(f"EVENTS[{number}] = cl.enqueue_copy({on}, {trace.names[id(target)]}, {trace.names[id(source)]}, {said}, wait_for={trace.waits(wait_for)})")  # fmt: skip
        return event

    def fill(queue: Any, target: Any, value: Any, offset: int, size: int, wait_for: Any = None) -> Any:
        event = real["enqueue_fill_buffer"](queue, target, value, offset, size, wait_for=wait_for)
        trace.lines.append(f"EVENTS[{trace.event(event)}] = cl.enqueue_fill_buffer({trace.queue(queue)}, {trace.names[id(target)]}, host({value.tobytes().hex()!r}), {offset}, {size}, wait_for={trace.waits(wait_for)})")  # fmt: skip
        return event

    def barrier(queue: Any, wait_for: Any = None) -> Any:
        event = real["enqueue_barrier"](queue, wait_for=wait_for)
        trace.lines.append(f"EVENTS[{trace.event(event)}] = cl.enqueue_barrier({trace.queue(queue)}, wait_for={trace.waits(wait_for)})")  # fmt: skip
        return event

    def launch(queue: Any, kernel: _Kernel, extent: Any, local: Any, offset: Any = None, wait_for: Any = None) -> Any:
        event = real["enqueue_nd_range_kernel"](queue, kernel.real, extent, local, offset, wait_for=wait_for)
        trace.lines.append(f"{kernel.name}.set_args({', '.join(kernel.arguments)})")
        trace.lines.append(f"EVENTS[{trace.event(event)}] = cl.enqueue_nd_range_kernel({trace.queue(queue)}, {kernel.name}, {tuple(extent)}, {tuple(local)}, {offset}, wait_for={trace.waits(wait_for)})")  # fmt: skip
        return event

    def kernel(built: Any, name: str) -> _Kernel:
        return _Kernel(real["Kernel"](built.real, name), f"kernel_{name}", built, name, trace)

    def source_of(context: Any, source: str) -> _Source:
        return _Source(real["Program"](context, source), source)

    def read(self: Any, value: Any) -> Any:
        found = reading(self, value)
        trace.views.append(_views(trace, value))
        return found

    fakes = {"Buffer": buffer, "Program": source_of, "Kernel": kernel, "enqueue_copy": copy, "enqueue_fill_buffer": fill, "enqueue_barrier": barrier, "enqueue_nd_range_kernel": launch}  # fmt: skip
    with ExitStack() as stack:
        # A script has sources, not what was built of them and kept.
        stack.enter_context(patch.dict(os.environ, {program_cache.FOLDER: program_cache.OFF}))
        for name, fake in fakes.items():
            stack.enter_context(patch.object(cl, name, fake))
        stack.enter_context(patch.object(memory.Cell, "part", sub_buffer))
        stack.enter_context(patch.object(engine.Engine, "read", read))
        # Kernels are built when the session opens, which is now.
        trace.queues = {id(queue): number for number, queue in enumerate(backend.session.platform.queues)}
        yield


def _views(trace: Trace, value: Any) -> list[str]:
    """Return the expressions of the blocks of a value that was just read."""
    last = iter(sorted(trace.reads.values())[-sum(storage is not None for storage in value.storages) :])
    blocks = []
    for form, storage in zip(value.forms, value.storages, strict=True):
        number = None if storage is None else next(last)
        if form is None:
            blocks.append("None")
            continue
        view = form.view
        assert form.dtype in NUMPY
        blocks.append(f"block({number}, {form.dtype!r}, {view.shape}, {view.strides}, {view.offset})")
    return blocks


@dataclass
class _Source:
    """A program that is built when it is asked for, with its text and the options it was built with."""

    real: Any
    source: str
    options: Sequence[str] = ()

    def build(self, options: Sequence[str] = ()) -> _Source:
        """Build it."""
        self.real = self.real.build(options=list(options))
        self.options = tuple(options)
        return self


@dataclass
class _Kernel:
    """A kernel with the names of the arguments that it was given last."""

    real: Any
    name: str
    built: _Source
    entry: str
    trace: Trace
    arguments: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        options = f"options={list(self.built.options)!r}" if self.built.options else ""
        text = f'r"""\n{needed(self.built.source, self.entry)}"""'
        made = f"cl.Program(CONTEXT, {text}).build({options})"
        self.trace.sources.append(f"{self.name} = cl.Kernel({made}, {self.entry!r})")

    def set_args(self, *arguments: Any) -> None:
        """Give the arguments, and write their names down."""
        self.real.set_args(*arguments)
        self.arguments = ["None" if each is None else self.trace.names[id(each)] for each in arguments]


def needed(source: str, entry: str) -> str:
    """Return the text of a program without the kernels that are not ``entry``."""
    pieces = re.split(r"(?m)^(?=__kernel|kernel )", source)
    return "".join(piece for number, piece in enumerate(pieces) if number == 0 or re.search(rf"\b{entry}\s*\(", piece))
