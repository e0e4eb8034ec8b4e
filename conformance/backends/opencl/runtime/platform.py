"""One OpenCL platform, one context with all its devices, one in-order queue a rank."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Final

import pyopencl as cl

from conformance.backends.opencl.runtime import NoPlatformError, intel
from conformance.backends.opencl.runtime.caches import cached_bytes
from conformance.backends.opencl.runtime.gates import Gates
from conformance.backends.opencl.runtime.host_cpu import retarget
from conformance.backends.opencl.settings import DEVICES, HELD, PLATFORM, POCL, Settings

PREFERRED: Final = {intel.NAME: ("opencl", intel.DISTRIBUTION), POCL: ("pocl", "pocl-binary-distribution")}
"""The platforms that are taken when none is named, best first, with the extra and the distribution that bring them."""

NVIDIA: Final = "NVIDIA CUDA"
"""The platform whose sub-buffers are not used: two that overlap and were written end the process when they are released
(driver 580.159; ``reports/gpu`` has a script of OpenCL alone that shows it)."""

INDIVISIBLE: Final = 2**40
"""More than a buffer has bytes, so only its first is a multiple: buffers are bound whole, an arena has one value."""


@dataclass(frozen=True)
class Platform:
    """An open platform. Rank ``r`` works on queue ``r`` modulo their number, which are shared out over the devices.

    Sub-buffers begin at multiples of ``alignment`` bytes, a buffer has at most ``largest`` bytes, a kernel is given
    at most ``most_buffers`` of them, the caches hold ``cached`` bytes, and a vector has ``lanes`` float32. Queues that
    begin when the host waits have ``gates``.
    """

    context: cl.Context
    queues: tuple[cl.CommandQueue, ...]
    alignment: int
    largest: int
    most_buffers: int
    cached: int
    lanes: int
    description: dict[str, str]
    gates: Gates | None = None

    def queue_of(self, device: int) -> int:
        """Return the number of the queue of a logical device."""
        return device % len(self.queues)

    def place_of(self, device: int) -> int:
        """Return the number of the OpenCL device that the queue of a logical device is on."""
        return self.queue_of(device) % len(self.context.devices)

    def flush(self) -> None:
        """Submit what is enqueued: whoever waits for an event of a queue needs its commands submitted."""
        for queue in self.queues:
            queue.flush()

    def wait(self, events: Sequence[cl.Event]) -> None:
        """Block until all that ``events`` are of is done."""
        if self.gates is not None:
            self.gates.open_for(events)
        cl.wait_for_events(events)


def open_platform(settings: Settings) -> Platform:
    """Return the platform of the settings; raise ``NoPlatformError`` saying what was found instead.

    PoCL makes as many devices as ``POCL_DEVICES`` names when it loads, so that is set first; a value already
    in the environment is kept, that of other settings in this process too. The description says which devices it is.
    """
    loaded = os.environ.setdefault("POCL_DEVICES", " ".join([settings.devices] * settings.queues))
    with intel.registered() as absent:
        try:
            found = cl.get_platforms()
        except cl.Error as error:
            raise NoPlatformError(
                f"no OpenCL platform: pip install 'mesh-conformance[opencl]' brings one ({error})"
            ) from error
    platform, reason = _chosen(found, settings.platform, absent)
    devices = platform.get_devices()
    target = retarget(devices) if platform.name == POCL else None
    context = cl.Context(devices)
    # Bits in the standard, bytes here.
    aligned = max(device.mem_base_addr_align for device in devices) // 8
    alignment = INDIVISIBLE if platform.name == NVIDIA else aligned
    largest = min(device.max_mem_alloc_size for device in devices)
    most_buffers = min(device.max_parameter_size * 8 // device.address_bits for device in devices)
    cached = min(cached_bytes(device) for device in devices)
    lanes = min(device.native_vector_width_float for device in devices)
    noting = {"properties": cl.command_queue_properties.PROFILING_ENABLE} if settings.profile else {}
    queues = tuple(
        cl.CommandQueue(context, devices[rank % len(devices)], **noting)
        for rank in range(max(settings.queues, len(devices)))
    )
    description = {
        "platform": f"{platform.name} {platform.version}",
        "chosen": reason,
        "driver": devices[0].driver_version,
        "devices": ", ".join(device.name for device in devices),
        "queues": str(len(queues)),
        "pyopencl": version("pyopencl"),
    }
    if platform.name == POCL:
        description["POCL_DEVICES"] = loaded
    with suppress(KeyError, PackageNotFoundError):
        _, distribution = PREFERRED[platform.name]
        description[distribution] = version(distribution)
    if target is not None:
        description["compiler target"] = f"{target} (this PoCL's compiler does not know the host CPU)"
    if settings.held and platform.name == POCL and "basic" in loaded.split():
        raise NoPlatformError(
            f"queues are to be held (setting 'held', or {HELD}), and PoCL's basic devices hold none: they need devices "
            f"with threads, as with {DEVICES}=pthread"
        )
    gates = Gates(context, queues) if settings.held else None
    return Platform(context, queues, alignment, largest, most_buffers, cached, lanes, description, gates)


def _chosen(found: Sequence[cl.Platform], named: str | None, absent: str | None) -> tuple[cl.Platform, str]:
    """Return the platform to take, and why: the one named, else the first of ``PREFERRED`` that is there, else any.

    ``absent`` says why Intel's is not registered. Nothing is taken for being the first listed while there is a better
    reason: loaders list platforms in any order.
    """
    names = [each.name for each in found]
    if named is not None:
        # A whole name before part of one: that of Intel's graphics begins with that of its CPU runtime.
        fitting = [name for name in names if name == named] or [name for name in names if named in name]
        if not fitting:
            listed = ", ".join(map(repr, names)) or "none"
            extra = next((extra for name, (extra, _) in PREFERRED.items() if named in name), None)
            brought = f"pip install 'mesh-conformance[{extra}]' brings it, or set" if extra else "set"
            raise NoPlatformError(f"no OpenCL platform named {named!r}; found {listed}; {brought} {PLATFORM} to choose")
        return found[names.index(fitting[0])], f"{named!r} was asked for"
    if not found:
        raise NoPlatformError("no OpenCL platform: pip install 'mesh-conformance[opencl]' brings one")
    without = f"Intel's CPU runtime, which is taken first, is not there: {absent or 'the loader does not list it'}"
    if intel.NAME in names:
        return found[names.index(intel.NAME)], "Intel's CPU runtime is taken first"
    if POCL in names:
        return found[names.index(POCL)], f"PoCL is taken next; {without}"
    return found[0], f"the first of those listed; {without}, nor is PoCL"
