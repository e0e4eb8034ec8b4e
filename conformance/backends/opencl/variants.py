"""The native implementation without a memory plan, in other orders, on other devices: nothing may change."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.runtime import NoPlatformError
from conformance.backends.opencl.settings import POCL, Settings, from_environment

if TYPE_CHECKING:
    from conformance.backends.opencl.runtime.session import Session


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


class Held(OpenCLVariant):
    """Queues begin when the host waits, one after the other, so that a missing wait shows in values."""

    name = "opencl-held"
    changes: ClassVar = {"held": True}


class UnplannedReordered(OpenCLVariant):
    """Both."""

    name = "opencl-unplanned-reordered"
    changes: ClassVar = {"reuse": False, "order": 1}


class PoCL(OpenCLVariant):
    """PoCL is the platform, whichever others are there: another compiler for the same programs."""

    name = "opencl-pocl"
    changes: ClassVar = {"platform": POCL}


class Concurrent(OpenCLVariant):
    """PoCL's devices run commands beside the host and beside each other, so that a missing wait shows in values."""

    name = "opencl-pocl-concurrent"
    changes: ClassVar = {"platform": POCL, "devices": "pthread"}

    @cached_property
    def session(self) -> Session:
        """The open devices; raise ``NoPlatformError`` where they run commands one by one as they are submitted."""
        session = super().session
        loaded = session.platform.description["POCL_DEVICES"]
        if "basic" in loaded.split():
            raise NoPlatformError(
                f"{self.name} needs devices with threads, and this process has POCL_DEVICES={loaded!r}, set before or "
                "by a backend opened before; unset it, and give this backend a process of its own"
            )
        return session


class ConcurrentReordered(Concurrent):
    """Items are enqueued on them in another legal order."""

    name = "opencl-pocl-concurrent-reordered"
    changes: ClassVar = {**Concurrent.changes, "order": 1}
