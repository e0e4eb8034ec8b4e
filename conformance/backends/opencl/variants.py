"""The native implementation with the memory plan off, in another legal order, and both: nothing may change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.settings import Settings, from_environment


class OpenCLVariant(OpenCL):
    """``OpenCL`` with ``changes`` to what the environment asks for."""

    changes: ClassVar[dict[str, Any]]

    def __init__(self, settings: Settings | None = None) -> None:
        """Take ``settings``, else what the environment asks for, with the changes."""
        super().__init__(replace(from_environment() if settings is None else settings, **self.changes))


class Unplanned(OpenCLVariant):
    """Every value has a storage of its own, and none serves twice."""

    name = "opencl-unplanned"
    changes: ClassVar = {"reuse": False}


class Reordered(OpenCLVariant):
    """Items are enqueued in another legal order."""

    name = "opencl-reordered"
    changes: ClassVar = {"order": 1}


class UnplannedReordered(OpenCLVariant):
    """Both."""

    name = "opencl-unplanned-reordered"
    changes: ClassVar = {"reuse": False, "order": 1}
