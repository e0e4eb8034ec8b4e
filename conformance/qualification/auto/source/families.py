"""The two families of changed code: the reference, as the backend that it is, and the native engine."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pkgutil import iter_modules, walk_packages
from typing import Final

from conformance.backends import opencl
from conformance.backends.opencl.settings import DEVICES, PLATFORM, POCL
from conformance.qualification.auto.source.changes import Change, changes
from conformance.qualification.auto.source.shadow import Family, source_of
from conformance.reference import operations

REFERENCE: Final = Family(
    name="reference",
    memory=6 << 30,
    packages=("conformance.reference", "conformance.backends.reference"),
    backend="conformance.backends.reference:Reference",
    changed=(
        *(module.name for module in iter_modules(operations.__path__, f"{operations.__name__}.")),
        "conformance.reference.graph.elementwise",
        *(f"conformance.reference.{name}" for name in ("effects", "groups", "meeting", "reductions", "spmd")),
    ),
    # The judge alone calls these, or the backend has its own.
    but=frozenset(
        f"conformance.reference.{name}" for name in ("spmd.evaluate", "effects.Effects.buffer", "effects.Effects.free")
    ),
    only={"conformance.reference.graph.elementwise": frozenset({"identity"})},
)
"""What the backend ``reference`` runs. The rest judges graphs and schedules, of which it makes none."""


def _pocl() -> dict[str, str]:
    """Return what asks for PoCL's devices with threads, where there are any; elsewhere any platform will do.

    They keep compiled kernels on disk, where Intel's runtime takes nine seconds for each process, and run commands
    beside the host and each other, so that a missing wait shows.
    """
    try:
        version("pocl-binary-distribution")
    except PackageNotFoundError:
        return {}
    return {PLATFORM: POCL, DEVICES: "pthread"}


ENGINE: Final = Family(
    name="engine",
    environment=_pocl(),
    cpu=60.0,
    batch=8,
    packages=("conformance.backends.opencl",),
    backend="conformance.backends.opencl:OpenCL",
    changed=tuple(
        module.name
        for module in walk_packages(opencl.__path__, f"{opencl.__name__}.")
        # Settings and variants choose among what is there, and the host's clock and caches are told, not computed.
        if module.name.rpartition(".")[2] not in ("settings", "variants", "host_cpu", "platform")
    ),
    in_c=tuple(f"{opencl.__name__}.{name}" for name in ("formats", "prelude", "render", "render_stream")),
)


@cache
def every_change(family: Family) -> tuple[Change, ...]:
    """Return all changes of a family's code, module by module."""
    found = (
        change
        for module in sorted(family.changed)
        for change in changes(module, source_of(module), c_text=module in family.in_c)
    )
    return tuple(
        change
        for change in found
        if f"{change.module}.{change.function}" not in family.but
        and change.function in family.only.get(change.module, {change.function})
    )
