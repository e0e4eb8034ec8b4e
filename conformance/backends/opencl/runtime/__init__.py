"""Platforms, contexts, queues, events, buffers and kernels. The modules here need pyopencl."""

from __future__ import annotations


class NoPlatformError(RuntimeError):
    """No OpenCL platform of the wanted name, or no OpenCL at all."""
