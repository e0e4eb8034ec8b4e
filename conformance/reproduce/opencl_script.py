"""A case as a script of pyopencl alone: the commands that the native engine enqueued, replayed one by one.

The engine runs the case once more, in this process, while every call that makes memory, builds a kernel or enqueues
a command is written down. What it decides before any command (a refusal) is not in the commands, and cannot be shown.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.backends.base import Backend
from conformance.cases.case import Case
from conformance.reproduce.frame import Program
from conformance.reproduce.opencl_recording import Trace, recorded
from conformance.reproduce.quote import Quotation
from conformance.reproduce.source_text import literal

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


class NothingEnqueuedError(ValueError):
    """The engine came to its answer without a command on a device."""


def program(case: Case, backend: Backend) -> Program:
    """Return the script's part for the native engine; raise ``NothingEnqueuedError`` where no command was enqueued."""
    from conformance.backends.opencl.runtime import intel

    # One that has done nothing yet: what was made before would not be written down.
    trace, fresh = Trace(), type(backend)()
    with recorded(fresh, trace):
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
        f"{literal(name)}: [{', '.join(blocks)}]"
        for name, blocks in zip(case.program.results, trace.views, strict=True)
    )
    body = [
        "def run(inputs):",
        *(f"    {line}" for line in trace.lines),
        "    for queue in QUEUES:",
        "        queue.finish()",
    ]
    return Program(
        needs="pyopencl and an OpenCL platform, ml_dtypes and numpy",
        setting=(f"PLATFORM = {literal(platform.context.devices[0].platform.name)}",),
        imports=("import pyopencl as cl", *quoted.imports),
        definitions=(
            *quoted.definitions.values(),
            DEFINITIONS.format(queues=literal(len(platform.queues))),
            *trace.sources,
        ),
        body="\n".join([*body, f"    return {{{made}}}"]),
    )
