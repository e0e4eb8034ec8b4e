"""One OpenCL platform chosen by name, one context with all its devices, one in-order queue a device."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import pyopencl as cl

from conformance.backends.opencl.runtime import NoPlatformError
from conformance.backends.opencl.runtime.host_cpu import retarget
from conformance.backends.opencl.settings import PLATFORM, Settings

POCL: Final = "Portable Computing Language"


@dataclass(frozen=True)
class Platform:
    """An open platform. Rank ``r`` works on device ``r`` modulo the number of devices.

    Sub-buffers begin at multiples of ``alignment`` bytes, and the caches hold ``cached`` bytes.
    """

    context: cl.Context
    queues: tuple[cl.CommandQueue, ...]
    alignment: int
    cached: int
    description: dict[str, str]

    def queue_of(self, device: int) -> int:
        """Return the number of the queue of a logical device."""
        return device % len(self.queues)


def open_platform(settings: Settings) -> Platform:
    """Return the platform of the settings; raise ``NoPlatformError`` saying what was found instead.

    PoCL makes as many devices as ``POCL_DEVICES`` names when it loads, so that is set first; a value already
    in the environment is kept, that of other settings in this process too, and where there are fewer devices than
    ranks, ranks share. The description says which devices it is.
    """
    loaded = os.environ.setdefault("POCL_DEVICES", " ".join([settings.devices] * settings.device_count))
    try:
        found = cl.get_platforms()
    except cl.Error as error:
        raise NoPlatformError(
            f"no OpenCL platform: pip install 'mesh-conformance[opencl]' brings one ({error})"
        ) from error
    # Never the first: loaders list platforms in any order. The name says which.
    named = [platform for platform in found if settings.platform in platform.name]
    if not named:
        names = ", ".join(repr(platform.name) for platform in found) or "none"
        raise NoPlatformError(
            f"no OpenCL platform named {settings.platform!r}; found {names}; set {PLATFORM} to choose"
        )
    platform = named[0]
    devices = platform.get_devices()
    target = retarget(devices) if POCL in platform.name else None
    context = cl.Context(devices)
    # Bits in the standard, bytes here.
    alignment = max(device.mem_base_addr_align for device in devices) // 8
    cached = min(device.global_mem_cache_size for device in devices)
    noting = {"properties": cl.command_queue_properties.PROFILING_ENABLE} if settings.profile else {}
    queues = tuple(cl.CommandQueue(context, device, **noting) for device in devices)
    description = {
        "platform": f"{platform.name} {platform.version}",
        "driver": devices[0].driver_version,
        "devices": ", ".join(device.name for device in devices),
        "pyopencl": version("pyopencl"),
    }
    if POCL in platform.name:
        description["POCL_DEVICES"] = loaded
    with suppress(PackageNotFoundError):
        description["pocl-binary-distribution"] = version("pocl-binary-distribution")
    if target is not None:
        description["compiler target"] = f"{target} (this PoCL's compiler does not know the host CPU)"
    return Platform(context, queues, alignment, cached, description)
