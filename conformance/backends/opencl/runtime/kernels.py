"""The kernels of a context: one program for all that work on any views, and one for each that streams runs.

The first is built when a session is opened, the others, and that of rare dtypes, when they are first needed. There are
as many as operations, dtypes and numbers of storages, whatever the sizes and strides, and whatever the caches hold, for
those are arguments. What was built is kept on disk for other processes.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import pyopencl as cl

from conformance.backends.opencl.render.fused import named
from conformance.backends.opencl.render.kernels import SLOTS, Body, render, render_rare, render_wide
from conformance.backends.opencl.render.lanes import FUNCTIONS
from conformance.backends.opencl.render.point import NAME
from conformance.backends.opencl.render.prelude import ELEMENTWISE, PAST, PRELUDE
from conformance.backends.opencl.render.streams import render_stream
from conformance.backends.opencl.runtime import intel
from conformance.backends.opencl.runtime.program_cache import ProgramCache, digest, features, folder
from conformance.backends.opencl.settings import POCL
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
        # PoCL keeps what it builds itself.
        below = None if devices[0].platform.name == POCL else folder()
        told = [each for one in devices for each in (one.platform.version, one.name, one.version, one.driver_version)]
        self._cache = ProgramCache([devices[0].platform.name, *told, features()], below)
        self._loaded: dict[str, cl.Program | None] = {}

    @cached_property
    def _exact(self) -> tuple[str, ...]:
        """Return the options with which floats are divided and roots taken as the standard of floats has it, if any."""
        wanted = cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT
        # Intel's runtime does not say so, but takes the option and leaves both to the processor's own instructions:
        # of 84 million quotients and roots of floats of any bits, all were rounded so (2026.2).
        known = self._context.devices[0].platform.name == intel.NAME
        if known or all(device.single_fp_config & wanted for device in self._context.devices):
            return "-cl-fp32-correctly-rounded-divide-sqrt", "-DEXACT_DIVISION"
        return ()

    @cached_property
    def program(self) -> cl.Program:
        """Return the one program, all kernels in it.

        What building costs is the program, not its text: for 8 PoCL devices 2.0 s where one program a pair of dtypes
        took 15 s, and from PoCL's cache 0.6 s where they took 8 s (two busy cores, all 45 kernels).
        """
        # No build options: every -cl flag for speed gives up NaN, subnormals or signed zeros.
        return self._program(render())

    @cached_property
    def _rare(self) -> cl.Program:
        """Return the program of the rare dtypes, which few runs need: it is half as large again as the other."""
        return self._program(render_rare())

    def kernel(self, body: Body) -> cl.Kernel:
        """Return the kernel for ``body``."""
        if body.kernel not in self._made:
            if body.stream is not None:
                program = self._program(render_stream(body))
            else:
                usual = self._rare if body.accumulator in RARE else self.program
                program = usual if body.slots == SLOTS else self._program(render_wide(body))
            self._made[body.kernel] = cl.Kernel(program, body.kernel)
        return self._made[body.kernel]

    def fused(self, text: str) -> cl.Kernel:
        """Return the kernel of a text that has been built."""
        return self._made[named(text)]

    def build(self, texts: Mapping[str, bool]) -> None:
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
        binaries = self._cache.find(program)
        if binaries is None or len(binaries) != len(self._context.devices):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", cl.CompilerWarning)
                made: cl.Program = cl.Program(self._context, self._context.devices, binaries).build()
        except cl.Error:
            return None
        return made

    def _program(self, source: str, options: Sequence[str] = (), kernels: Sequence[str] = ()) -> cl.Program:
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


def _built(context: cl.Context, source: str, options: Sequence[str] = ()) -> cl.Program:
    """Return the program of ``source``; raise ``pyopencl.RuntimeError`` with what the compiler says where it fails."""
    with warnings.catch_warnings():
        # Intel's compiler always says something: what it vectorised.
        warnings.simplefilter("ignore", cl.CompilerWarning)
        program: cl.Program = cl.Program(context, source).build(options=list(options))
    return program
