"""Programs and kernels, built once: a bounded cache keyed by dtypes, never by sizes."""

from __future__ import annotations

from collections import OrderedDict

import pyopencl as cl

from conformance.backends.opencl.render import Body, render


class Programs:
    """The programs of one context, the least recently used dropped beyond ``limit``."""

    def __init__(self, context: cl.Context, limit: int) -> None:
        """Start with no program."""
        self._context = context
        self._limit = limit
        self._programs: OrderedDict[tuple[str, str], tuple[cl.Program, dict[str, cl.Kernel]]] = OrderedDict()
        self.built = 0

    def __len__(self) -> int:
        """Return the number of programs held."""
        return len(self._programs)

    def kernel(self, body: Body) -> cl.Kernel:
        """Return the kernel for ``body``, building its program first where needed."""
        key = body.program
        if key not in self._programs:
            # No build options: every -cl flag for speed gives up NaN, subnormals or signed zeros.
            program = cl.Program(self._context, render(key)).build()
            self.built += 1
            self._programs[key] = (program, {})
            if len(self._programs) > self._limit:
                self._programs.popitem(last=False)
        self._programs.move_to_end(key)
        program, kernels = self._programs[key]
        if body.kernel not in kernels:
            kernels[body.kernel] = cl.Kernel(program, body.kernel)
        return kernels[body.kernel]
