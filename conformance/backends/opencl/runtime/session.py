"""What stays open between programs: the platform, the memory in use and the kernels built."""

from __future__ import annotations

from conformance.backends.opencl.runtime.kernels import Kernels
from conformance.backends.opencl.runtime.launch import Bytes, Launch
from conformance.backends.opencl.runtime.memory import Memory
from conformance.backends.opencl.runtime.platform import open_platform
from conformance.backends.opencl.schedule import Schedule
from conformance.backends.opencl.settings import Settings


class Session:
    """Open devices."""

    def __init__(self, settings: Settings) -> None:
        """Open the platform of ``settings``; raise ``NoPlatformError`` when it is not there."""
        self.platform = open_platform(settings)
        self.memory = Memory(self.platform.context)
        self.kernels = Kernels(self.platform.context)

    def launch(self, plan: Schedule, inputs: dict[tuple[str, int], Bytes]) -> Launch:
        """Enqueue ``plan`` on ``inputs``, the bytes of each storage by name and rank; nothing blocks."""
        return Launch(plan, inputs, self.platform, self.memory, self.kernels)
