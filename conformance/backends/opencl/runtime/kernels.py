"""The kernels of a context: those that work on any views, one a pair of dtypes, and one for each that streams runs.

With PoCL the first are one program, built when a session is opened; else each is a program of its own. It is built, as
are all others, when it is first needed. There are as many as operations, dtypes and numbers of storages, whatever the
sizes and strides, and whatever the caches hold, for those are arguments. What was built is kept on disk for other
processes. PoCL keeps what it builds itself, but to find a program there takes it 0.2 s of the processor, here 8 ms.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from threading import Lock, Thread
from typing import Any, Final

import pyopencl as cl

from conformance.backends.opencl.render.fused import named
from conformance.backends.opencl.render.kernels import SLOTS, Body, render, render_one, render_rare
from conformance.backends.opencl.render.lanes import FUNCTIONS
from conformance.backends.opencl.render.point import NAME
from conformance.backends.opencl.render.prelude import ELEMENTWISE, PAST, PRELUDE
from conformance.backends.opencl.render.streams import render_stream
from conformance.backends.opencl.runtime import intel
from conformance.backends.opencl.runtime.program_cache import ProgramCache, digest, features, folder
from conformance.backends.opencl.settings import POCL
from conformance.backends.spent_seconds import compiling
from conformance.cases.tensor.dtypes import RARE

BEFORE = PRELUDE + PAST + ELEMENTWISE + FUNCTIONS
"""What the text of every program of fused kernels begins with."""


class Kernels:
    """Kernels by name; a device compiles one when it launches it first."""

    def __init__(self, context: cl.Context) -> None:
        """Start with nothing built."""
        self._context = context
        self._made: dict[str, cl.Kernel] = {}
        devices = context.devices
        # What a program costs PoCL is the program, not its text: 8 devices built all 45 kernels in 2.0 s, and in 15 s
        # as a program a pair of dtypes. What it costs Intel's compiler are the kernels: 45 take 7.8 s of its time, and
        # one takes 0.2 s, in whichever program it is (two busy cores).
        self.together = devices[0].platform.name == POCL
        told = [each for one in devices for each in (one.platform.version, one.name, one.version, one.driver_version)]
        self._aside: Thread | None = None
        self._cache = ProgramCache([devices[0].platform.name, *told, features()], folder())
        self._loaded: dict[str, cl.Program | None] = {}

    @cached_property
    def _exact(self) -> tuple[str, ...]:
        """Return the options with which floats are divided and roots taken as the standard of floats has it, if any.

        To divide in double does not do without them: NVIDIA's compiler divides two floats that were widened, whose
        quotient is narrowed, as floats (driver 580.159), and so to 2.5 units in the last place.
        """
        wanted = cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        # Intel's runtime does not say so, but takes the option and leaves both to the processor's own instructions:
        # of 84 million quotients and roots of floats of any bits, all were rounded so (2026.2).
        known = self._context.devices[0].platform.name == intel.NAME
        if known or all(device.single_fp_config & wanted for device in self._context.devices):
            return "-cl-fp32-correctly-rounded-divide-sqrt", "-DEXACT_DIVISION"
        return ()

    def begin(self) -> None:
        """Build what is built together, where anything is."""
        if self.together:
            _ = self._usual

    @cached_property
    def _usual(self) -> cl.Program:
        """Return the one program of all kernels that work on any views, but for those of rare dtypes."""
        # No options for speed: every one gives up NaN, subnormals or signed zeros.
        return self._program(render(), self._exact)

    @cached_property
    def _rare(self) -> cl.Program:
        """Return the program of the rare dtypes, which few runs need: it is half as large again as the other."""
        return self._program(render_rare(), self._exact)

    def kernel(self, body: Body) -> cl.Kernel:
        """Return the kernel for ``body``."""
        if body.kernel not in self._made:
            if body.stream is not None:
                program = self._program(render_stream(body), self._exact)
            elif self.together and body.slots == SLOTS and not body.joint:
                program = self._rare if body.accumulator in RARE else self._usual
            else:
                program = self._program(render_one(body), self._exact)
            self._made[body.kernel] = cl.Kernel(program, body.kernel)
        return self._made[body.kernel]

    def fused(self, text: str) -> cl.Kernel:
        """Return the kernel of a text that has been built."""
        return self._made[named(text)]

    def build_aside(self, texts: Mapping[str, bool]) -> None:
        """Build the kernels of texts as ``build`` does, beside what is done next: compilers hold no lock of Python's.

        What does not build is built again by who needs it, and fails there.
        """
        self._wait()
        wanted = {text: fast for text, fast in texts.items() if named(text) not in self._made}

        def built() -> None:
            with suppress(cl.RuntimeError):
                self._build(wanted)

        if wanted:
            self._aside = Thread(target=built, name="kernels")
            self._aside.start()

    def _wait(self) -> None:
        if self._aside is not None:
            self._aside.join()
            self._aside = None

    def build(self, texts: Mapping[str, bool]) -> None:
        """Build those texts that have not been built, as ``_build`` does."""
        if any(named(text) not in self._made for text in texts):
            self._wait()
        self._build(texts)

    def _build(self, texts: Mapping[str, bool]) -> None:
        """Build the kernels of those texts that have not been built, all that are to be optimised in one program.

        So are all others: what 46 kernels of small graphs cost was 0.9 s of the compiler, and 0.2 s where it did not
        optimise (Intel's on two busy cores). Those that another process built are taken from where it kept them.
        """
        for optimised in (True, False):
            options = (*self._exact, *(() if optimised else ("-cl-opt-disable",)))
            wanted = {named(text): text for text, fast in texts.items() if fast == optimised}
            missing = {name: text for name, text in wanted.items() if name not in self._made}
            for name in list(missing):
                kept = self._kept(name, options)
                if kept is not None:
                    self._made[name] = cl.Kernel(kept, name)
                    del missing[name]
            if missing:
                source = "".join(text.replace(NAME, name, 1) for name, text in missing.items())
                program = self._program(BEFORE + source, options, [_entry(name, options) for name in missing])
                self._made |= {name: cl.Kernel(program, name) for name in missing}

    def _kept(self, name: str, options: Sequence[str]) -> cl.Program | None:
        """Return a program on disk that has a kernel, loaded once."""
        program = self._cache.program_of(_entry(name, options))
        if program is None:
            return None
        if program not in self._loaded:
            self._loaded[program] = self._load(program)
        return self._loaded[program]

    def _load(self, program: str) -> cl.Program | None:
        """Return a program of the binaries on disk; ``None`` where there are none that the devices take."""
        count = len(self._context.devices)
        binaries = self._cache.find(program)
        if binaries is None or len(binaries) not in (1, count):
            return None
        binaries = binaries if len(binaries) == count else binaries * count
        try:
            with _unwarned(), compiling():
                made: cl.Program = cl.Program(self._context, self._context.devices, binaries).build()
        except cl.Error:
            return None
        return made

    def _program(self, source: str, options: Sequence[str], kernels: Sequence[str] = ()) -> cl.Program:
        """Return the program of a source, from disk if it is there, else built and kept."""
        name = digest([source, *options])
        found = self._load(name)
        if found is None:
            found = _built(self._context, source, options)
            if self._cache.on:
                binaries: Any = found.get_info(cl.program_info.BINARIES)
                self._cache.keep(name, binaries, kernels)
        return found


def _entry(kernel: str, options: Sequence[str]) -> str:
    """Return the name under which it is kept which program has a kernel, built with these options."""
    return digest([kernel, BEFORE, *options])


_FILTERS: Final = Lock()
"""Held while the filters of warnings are changed, which all threads share."""


@contextmanager
def _unwarned() -> Iterator[None]:
    """Let nothing be warned of that Intel's compiler says: it always says what it vectorised."""
    with _FILTERS, warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        yield


def _built(context: cl.Context, source: str, options: Sequence[str] = ()) -> cl.Program:
    """Return the program of ``source``; raise ``pyopencl.RuntimeError`` with what the compiler says where it fails."""
    with _unwarned(), compiling():
        program: cl.Program = cl.Program(context, source).build(options=list(options))
    return program
