"""Platforms, contexts, queues, events, buffers and kernels. The modules here need pyopencl.

Here: what the device is told, and when.
Not here: what is told (``schedule``) and the text of kernels (``render``).
"""

from __future__ import annotations

import os

# Read when pyopencl is imported: ``program_cache`` keeps what is built, and once is enough.
os.environ.setdefault("PYOPENCL_NO_CACHE", "1")


class NoPlatformError(RuntimeError):
    """No OpenCL platform of the wanted name, or no OpenCL at all."""
