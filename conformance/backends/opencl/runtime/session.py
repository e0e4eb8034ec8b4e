"""What stays open between programs: the platform, the memory in use and the kernels built."""

from __future__ import annotations

from conformance.backends.opencl.runtime.kernels import Kernels
from conformance.backends.opencl.runtime.memory import Memory
from conformance.backends.opencl.runtime.platform import INDIVISIBLE, open_platform
from conformance.backends.opencl.settings import Settings


class Session:
    """Open devices."""

    def __init__(self, settings: Settings) -> None:
        """Open the platform of ``settings``; raise ``NoPlatformError`` when it is not there."""
        self.platform = open_platform(settings)
        divisible = self.platform.alignment < INDIVISIBLE
        self.memory = Memory(self.platform.context, reuse=settings.reuse, divisible=divisible)
        self.kernels = Kernels(self.platform.context)
        # Now and not with the first case, which has a time limit.
        self.kernels.begin()
