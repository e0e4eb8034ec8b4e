"""The families of changed code: the reference, as the backend that it is, the native engine, and the runner."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pkgutil import iter_modules, walk_packages
from typing import Final

from conformance import runner
from conformance.backends import lowering, opencl
from conformance.backends.opencl import render
from conformance.backends.opencl.runtime.program_cache import FOLDER, OFF, folder
from conformance.backends.opencl.settings import DEVICES, HELD, PLATFORM, POCL, WITHOUT
from conformance.qualification.auto.source.changes import Change, changes
from conformance.qualification.auto.source.shadow import Family, source_of
from conformance.reference import operations

GRAPH: Final = ("conversion", "elementwise", "evaluate", "movement", "nodes")
JUDGING: Final = (
    *("spmd.evaluate", "effects.Effects.buffer", "effects.Effects.free", "sharded.all_reduce.copies"),
    *("graph.evaluate._each", "graph.nodes.inside"),
    "sharded.all_reduce.chosen",
    *("divergent_ranks.Meeting._why", "divergent_ranks.Meeting._kind", "divergent_ranks.Meeting._rest"),
    "effects._of_other_size",
)

TYPES: Final = ("casts", "check", "collectives", "local", "lowering", "started", "values")
"""Modules of ``reference.types`` with rules; the others name what those raise, or join them."""

REFERENCE: Final = Family(
    name="reference",
    memory=6 << 30,
    packages=("conformance.reference", "conformance.backends.reference"),
    backend="conformance.backends.reference:Reference",
    changed=(
        *(module.name for module in iter_modules(operations.__path__, f"{operations.__name__}.")),
        *(f"conformance.reference.types.{name}" for name in TYPES),
        *(f"conformance.reference.{name}" for name in ("divergent_ranks", "effects", "groups", "reductions", "spmd")),
        *(f"conformance.reference.graph.{name}" for name in GRAPH),
        *(f"conformance.reference.transforms.{name}" for name in ("batching", "pullback", "pushforward", "transposes")),
        *(f"conformance.reference.sharded.{name}" for name in ("all_reduce", "parts")),
        "conformance.backends.reference.sharded",
    ),
    # The judge alone calls these, or the backend has its own, or they say which clause a refusal is by, or choose
    # among algorithms that are all right.
    but=frozenset(f"conformance.reference.{name}" for name in JUDGING),
)
"""What the backend ``reference`` runs. The rest judges: how far apart right values may be, and schedules, of which it
makes none."""


def _pocl() -> dict[str, str]:
    """Return what asks for PoCL's devices with threads, where there are any; elsewhere any platform will do.

    They keep compiled kernels on disk, where Intel's runtime takes nine seconds for each process, and run commands
    beside the host and each other. Queues are held until the host waits, so that a missing wait shows: of 209 drawn
    cases without the first wait of each command 82 failed, and 14 and 22 of some 200 where queues were not held.
    Vectors are off: on some of their kernels PoCL's compiler ends the process ("Cannot emit physreg copy instruction").
    It optimises nothing: 57 drawn cases, none of whose kernels had been built, took 47 s of the processor, of which
    46 s were compiling, and 21 s so.
    """
    try:
        version("pocl-binary-distribution")
    except PackageNotFoundError:
        return {}
    threads = {PLATFORM: POCL, DEVICES: "pthread", HELD: "on"}
    return {**threads, WITHOUT: "vectors", "POCL_EXTRA_BUILD_FLAGS": "-cl-opt-disable"}


SETTINGS: Final = ("settings", "variants", "caches", "host_cpu", "platform", "intel")
TOLD: Final = ("explanation", "program_cache")
ASKED_FOR: Final = ("algorithm", "all_to_all", "chunks", "device_copies", "gates", "naive", "ring", "tree")
"""Modules of the engine that are left as they are: they choose among what is there; they are for people to read, or
keep on disk what was built, so that who comes to them depends on who ran before; or nothing is run of them unless a
setting asks for it, as the variants do (``backends/opencl/variants.py``)."""

NOT_RUN: Final = (
    *("lower.folds.Folding.ready", "lower.folds.Folding.of_ready", "lower.folds.Folding._ready"),
    *("lower.movement._round", "lower.movement._hop"),
    *("runtime.rounds.Graphs.held", "runtime.held.Running.wait", "runtime.held.Running.read"),
    *("runtime.engine.Started.wait", "runtime.engine.Started.timeline", "runtime.engine.Engine.plan"),
    *("runtime.memory.Memory.held", "runtime.memory.Memory.trim"),
    *("runtime.memory.Memory._release", "runtime.memory.Cell.release"),
    *("runtime.kernels.Kernels._load", "runtime.kernels.Kernels._kept"),
    *("graph.view.View.once", "schedule.legal_orders.reordered"),
    *("schedule.legal_orders._edges", "schedule.legal_orders._drawn"),
    *("runtime.rounds.Graphs.gather", "runtime.kernels.Kernels.build_aside"),
    *("runtime.plan.Plan.wait", "runtime.plan.Launched.wait", "runtime.plan._unbuilt"),
)
"""Functions that those modules alone call, or benches, or workers that are told which cases come next, or that run once
a GiB of memory was given back or no kernel builds, or that take programs from disk, where changed code of their module
takes none."""

VECTORS: Final = ("forms", "lanes", "matmul_form", "matmul_text", "repeated_folds", "vector_text", "vectors")
"""Modules that nobody comes to where vectors are off."""

_POCL: Final = _pocl()

KEEPING: Final = ("runtime.kernels", "render.fused")
"""Modules that say under which names built programs are kept on disk. Changed ones neither keep any nor take them, so
that no other mutant, nor the unchanged code, gets another kernel than it asked for."""


def _kept() -> str:
    """Return where built programs are kept: not with those of other runs, for their names do not tell how."""
    usual = folder()
    return OFF if usual is None else str(usual.with_name(f"{usual.name}-qualified"))


_ENGINE: Final = tuple(
    module.name
    for package in (opencl, lowering)
    for module in walk_packages(package.__path__, f"{package.__name__}.")
    if module.name.rpartition(".")[2] not in (*SETTINGS, *TOLD, *ASKED_FOR, *(VECTORS if _POCL else ()))
)

ENGINE: Final = Family(
    name="engine",
    environment={**_POCL, FOLDER: _kept()},
    apart={f"{opencl.__name__}.{name}": {FOLDER: OFF} for name in KEEPING},
    cpu=30.0,
    batch=4,
    # Three of eight processes ended while they surveyed 320 cases, which were surveyed again then.
    piece=160,
    # Which has its engine, and that its session.
    opened=("graphs",),
    plans=True,
    packages=("conformance.backends.opencl", "conformance.backends.lowering"),
    backend="conformance.backends.opencl:OpenCL",
    changed=_ENGINE,
    but=frozenset(f"{opencl.__name__}.{name}" for name in NOT_RUN),
    in_c=tuple(name for name in _ENGINE if name.startswith((f"{opencl.__name__}.formats", f"{render.__name__}."))),
)


JUDGED_BY_TESTS: Final = (
    *("backend", "known", "log", "records", "shrinking", "worker"),
    *("explore", "meaning", "offering", "plan", "replay", "result", "resumption", "turns"),
)
"""Folders and modules of the runner that decide what a run says; the others draw, or count what was drawn."""

DECODING: Final = (
    *("conformance.backends.observing", "conformance.backends.protocol", "conformance.backends.worker"),
    *("conformance.backends.scheduled", "conformance.cases.codec"),
    *("conformance.cases.document", "conformance.cases.observation_file"),
    *("conformance.cases.tensor.footprint", "conformance.cases.tensor.stored"),
)
"""Modules beside the runner that carry cases and answers."""

RUNNER: Final = Family(
    name="runner",
    packages=(),
    backend="",
    changed=tuple(
        sorted(
            {
                *DECODING,
                *(
                    module.name
                    for module in walk_packages(runner.__path__, f"{runner.__name__}.")
                    if not module.ispkg and module.name.split(".")[2] in JUDGED_BY_TESTS
                ),
            }
        )
    ),
)
"""The runner, transport, decoding and resumption, whose changes the tests of a clone judge (``auto/by_tests.py``)."""


@cache
def every_change(family: Family) -> tuple[Change, ...]:
    """Return all changes of a family's code, module by module."""
    found = (
        change
        for module in sorted(family.changed)
        for change in changes(module, source_of(module), c_text=module in family.in_c)
    )
    kept = (change for change in found if f"{change.module}.{change.function}" not in family.but)
    return tuple(change for change in kept if family.tables or change.below)
