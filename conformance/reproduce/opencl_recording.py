"""The commands of OpenCL that the native engine gives, written down as lines of a script while they are given."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np

from conformance.cases.tensor.dtypes import NUMPY
from conformance.reproduce.source_text import literal, text_literal


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


class _Recorder:
    """Stands for the functions of pyopencl that the engine calls: each calls the real one and writes its line."""

    def __init__(self, cl: Any, trace: Trace) -> None:
        """Keep the real functions."""
        self._trace = trace
        self._buffer, self._program, self._kernel = cl.Buffer, cl.Program, cl.Kernel
        self._copy, self._fill = cl.enqueue_copy, cl.enqueue_fill_buffer
        self._barrier, self._launch = cl.enqueue_barrier, cl.enqueue_nd_range_kernel

    def fakes(self) -> dict[str, Callable[..., Any]]:
        """Return what stands for each function, by its name in pyopencl."""
        return {
            "Buffer": self.buffer,
            "Program": self.program,
            "Kernel": self.kernel,
            "enqueue_copy": self.copy,
            "enqueue_fill_buffer": self.fill,
            "enqueue_barrier": self.barrier,
            "enqueue_nd_range_kernel": self.launch,
        }

    def buffer(self, context: Any, flags: int, size: int = 0, hostbuf: Any = None) -> Any:
        """Make a buffer."""
        made = self._buffer(context, flags, size=size, hostbuf=hostbuf)
        given = f"size={size}" if hostbuf is None else f"hostbuf=host({literal(np.asarray(hostbuf).tobytes().hex())})"
        self._trace.lines.append(f"{self._trace.name(made, 'b')} = cl.Buffer(CONTEXT, {flags}, {given})")
        return made

    def program(self, context: Any, source: str) -> _Source:
        """Take the text of a program."""
        return _Source(self._program(context, source), source)

    def kernel(self, built: Any, name: str) -> _Kernel:
        """Take a kernel of a program."""
        return _Kernel(self._kernel(built.real, name), f"kernel_{name}", built, name, self._trace)

    def copy(
        self, queue: Any, target: Any, source: Any, wait_for: Any = None, is_blocking: bool = True, **sizes: int
    ) -> Any:
        """Copy from the host, to the host, or between buffers, which alone have ``sizes``."""
        how: dict[str, Any] = sizes or {"is_blocking": is_blocking}
        event = self._copy(queue, target, source, wait_for=wait_for, **how)
        waits = self._trace.waits(wait_for)
        if isinstance(target, np.ndarray):
            self._read(queue, target, source, event, waits)
        elif isinstance(source, np.ndarray):
            given = f"given_{self._trace.event(event)}"
            self._trace.lines.append(f"{given} = host({literal(source.tobytes().hex())})")
            self._enqueued(event, "copy", queue, f"{self._of(target)}, {given}, is_blocking=False", waits)
        else:
            said = ", ".join(f"{name}={value}" for name, value in sizes.items())
            self._enqueued(event, "copy", queue, f"{self._of(target)}, {self._of(source)}, {said}", waits)
        return event

    def fill(self, queue: Any, target: Any, value: Any, offset: int, size: int, wait_for: Any = None) -> Any:
        """Fill a part of a buffer."""
        event = self._fill(queue, target, value, offset, size, wait_for=wait_for)
        said = f"{self._of(target)}, host({literal(value.tobytes().hex())}), {offset}, {size}"
        self._enqueued(event, "fill_buffer", queue, said, self._trace.waits(wait_for))
        return event

    def barrier(self, queue: Any, wait_for: Any = None) -> Any:
        """Enqueue a barrier."""
        event = self._barrier(queue, wait_for=wait_for)
        self._enqueued(event, "barrier", queue, "", self._trace.waits(wait_for))
        return event

    def launch(
        self, queue: Any, kernel: _Kernel, extent: Any, local: Any, offset: Any = None, wait_for: Any = None
    ) -> Any:
        """Launch a kernel with the arguments that it was given last."""
        event = self._launch(queue, kernel.real, extent, local, offset, wait_for=wait_for)
        self._trace.lines.append(f"{kernel.name}.set_args({', '.join(kernel.arguments)})")
        said = f"{kernel.name}, {tuple(extent)}, {tuple(local)}, {offset}"
        self._enqueued(event, "nd_range_kernel", queue, said, self._trace.waits(wait_for))
        return event

    def _enqueued(self, event: Any, command: str, queue: Any, said: str, waits: str) -> None:
        """Write the line of a command, with what is ``said`` of it between its queue and what it waits for."""
        given = ", ".join(filter(None, (self._trace.queue(queue), said, f"wait_for={waits}")))
        self._trace.lines.append(f"EVENTS[{self._trace.event(event)}] = cl.enqueue_{command}({given})")

    def _read(self, queue: Any, target: Any, source: Any, event: Any, waits: str) -> None:
        """Write the line of a copy to the host, by the function of the script that keeps what it brought."""
        number = self._trace.reads[id(target)] = self._trace.event(event)
        self._trace.kept.append(target)
        told = f"{number}, {self._trace.queues[id(queue)]}, {self._of(source)}, {target.nbytes}, {waits}"
        self._trace.lines.append(f"read({told})")

    def _of(self, what: Any) -> str:
        return self._trace.names[id(what)]


@contextmanager
def recorded(backend: Any, trace: Trace) -> Iterator[None]:
    """Write down in ``trace`` what the engine does while entered."""
    import pyopencl as cl

    from conformance.backends.opencl.runtime import engine, memory, program_cache

    with ExitStack() as stack:
        # A script has sources, not what was built of them and kept.
        stack.enter_context(patch.dict(os.environ, {program_cache.FOLDER: program_cache.OFF}))
        for name, fake in _Recorder(cl, trace).fakes().items():
            stack.enter_context(patch.object(cl, name, fake))
        stack.enter_context(patch.object(memory.Cell, "part", _part(trace, memory.Cell.part)))
        stack.enter_context(patch.object(engine.Engine, "read", _reading(trace, engine.Engine.read)))
        # Kernels are built when the session opens, which is now.
        trace.queues = {id(queue): number for number, queue in enumerate(backend.session.platform.queues)}
        yield


def _part(trace: Trace, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return what stands for the engine's own function that takes a part of a buffer."""

    def part(cell: Any, start: int, stop: int) -> Any:
        made = real(cell, start, stop)
        if id(made) not in trace.names:
            whole = trace.names[id(cell.buffer)]
            trace.lines.append(f"{trace.name(made, 'b')} = {whole}.get_sub_region({start}, {stop - start})")
        return made

    return part


def _reading(trace: Trace, real: Callable[..., Any]) -> Callable[..., Any]:
    """Return what stands for the engine's own function that reads a value."""

    def read(engine: Any, value: Any) -> Any:
        found = real(engine, value)
        trace.views.append(_views(trace, value))
        return found

    return read


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
        blocks.append(f"block({number}, {literal(form.dtype)}, {view.shape}, {view.strides}, {view.offset})")
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
        options = f"options={literal(list(self.built.options))}" if self.built.options else ""
        text = text_literal(needed(self.built.source, self.entry))
        made = f"cl.Program(CONTEXT, {text}).build({options})"
        self.trace.sources.append(f"{self.name} = cl.Kernel({made}, {literal(self.entry)})")

    def set_args(self, *arguments: Any) -> None:
        """Give the arguments, and write their names down."""
        self.real.set_args(*arguments)
        self.arguments = ["None" if each is None else self.trace.names[id(each)] for each in arguments]


def needed(source: str, entry: str) -> str:
    """Return the text of a program without the kernels that are not ``entry``."""
    pieces = re.split(r"(?m)^(?=__kernel|kernel )", source)
    return "".join(piece for number, piece in enumerate(pieces) if number == 0 or re.search(rf"\b{entry}\s*\(", piece))
