"""One OpenCL platform chosen by name, one context with all its devices, one in-order queue a device."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from conformance.backends.opencl.runtime.host_cpu import retarget
from conformance.backends.opencl.settings import PLATFORM, Settings

if TYPE_CHECKING:
    import pyopencl as cl

POCL = "Portable Computing Language"


class NoPlatform(RuntimeError):
    """No OpenCL platform of the wanted name, or no OpenCL at all."""


@dataclass(frozen=True)
class Platform:
    """An open platform. Rank ``r`` works on device ``r`` modulo the number of devices."""

    context: cl.Context
    queues: tuple[cl.CommandQueue, ...]
    alignment: int
    description: dict[str, str]

    def queue_of(self, device: int) -> int:
        """Return the number of the queue of a logical device."""
        return device % len(self.queues)


def open_platform(settings: Settings) -> Platform:
    """Return the platform of the settings; raise ``NoPlatform`` saying what was found instead.

    PoCL makes as many devices as ``POCL_DEVICES`` names when it loads, so that is set first; a value already
    in the environment is kept.
    """
    os.environ.setdefault("POCL_DEVICES", " ".join([settings.devices] * settings.device_count))
    try:
        import pyopencl as cl
    except ImportError as error:
        raise NoPlatform(f"the opencl backend needs pyopencl: pip install 'mesh-conformance[opencl]' ({error})") from error
    try:
        found = cl.get_platforms()
    except cl.Error as error:
        raise NoPlatform(f"no OpenCL platform: pip install 'mesh-conformance[opencl]' brings one ({error})") from error
    # Never the first: loaders list platforms in any order. The name says which.
    named = [platform for platform in found if settings.platform in platform.name]
    if not named:
        names = ", ".join(repr(platform.name) for platform in found) or "none"
        raise NoPlatform(f"no OpenCL platform named {settings.platform!r}; found {names}; set {PLATFORM} to choose")
    platform = named[0]
    devices = platform.get_devices()
    target = retarget(devices) if POCL in platform.name else None
    context = cl.Context(devices)
    # Bits in the standard, bytes here.
    alignment = max(device.mem_base_addr_align for device in devices) // 8
    queues = tuple(cl.CommandQueue(context, device) for device in devices)
    description = {
        "platform": f"{platform.name} {platform.version}",
        "driver": devices[0].driver_version,
        "devices": ", ".join(device.name for device in devices),
        "pyopencl": version("pyopencl"),
    }
    try:
        description["pocl-binary-distribution"] = version("pocl-binary-distribution")
    except PackageNotFoundError:
        pass
    if target is not None:
        description["compiler target"] = f"{target} (this PoCL's compiler does not know the host CPU)"
    return Platform(context, queues, alignment, description)
