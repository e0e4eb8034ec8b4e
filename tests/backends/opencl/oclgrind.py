"""The suite's own cases on oclgrind, which runs kernels item by item and sees races, stray accesses and unset bytes.

Not part of the default tests, for oclgrind is a platform of its own: ``nox -s oclgrind``. It has one device, in order,
so it says nothing about queues; ``timeline.py`` does.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyopencl as cl
import pytest

from conformance.backends.claim_limits import supported
from conformance.backends.observing import observations
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.graph.attributes import WANTED
from conformance.backends.opencl.runtime.memory import Cell, Memory
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.settings import ALGORITHMS, Settings
from conformance.cases.case import Case
from conformance.cases.program.health import followed
from conformance.judging.verdict import judge
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import meaning
from conformance.runner.plan import Plan
from conformance.specs import SUITES, clauses_of

LOG = Path(tempfile.mkdtemp(prefix="oclgrind-")) / "log"

# Before the platform is loaded, which reads them then. The limit counts errors of the whole process and hides the rest.
# Optimised kernels contain freeze instructions, of which oclgrind's check of unset bytes knows nothing (21.10).
os.environ.update(
    OCLGRIND_DATA_RACES="1",
    OCLGRIND_UNINITIALIZED="1",
    OCLGRIND_MAX_ERRORS="100000",
    OCLGRIND_LOG=str(LOG),
    PYOPENCL_BUILD_OPTIONS="-cl-opt-disable",
)

SETTINGS: dict[str, dict[str, Any]] = {
    **{algorithm: {"force": algorithm} for algorithm in ALGORITHMS},
    "without a memory plan": {"force": "ring", "reuse": False},
    "streaming": {"stream_from": 1, "cached": 2**62},
    "past the caches": {"stream_from": 1, "cached": 0},
    "partly past the caches": {"stream_from": 1, "cached": 300},
}

SHORT = tuple(name for name in SUITES if name != "long")
"""The suites but for that of long blocks, of which the simulator does one in minutes; short ones stream here too."""

FEWEST = 4
"""Cases of each operation that must have computed something, so that to refuse every one is no success."""

PLANTED = {
    "Invalid read": "__kernel void planted(__global int* a) { a[0] = a[get_global_id(0) + 5]; }",
    "data race": "__kernel void planted(__global int* a) { a[0] = get_global_id(0); }",
    "uninitialized": "__kernel void planted(__global int* a) { if (a[get_global_id(0)] > 1) a[get_global_id(0)] = 1; }",
}


class Hoard(Memory):
    """Memory that is never given back, so that unset bytes are always seen, and only those.

    A kept buffer would still have the bytes of its last use, and oclgrind 21.10 takes bytes for unset where a new
    buffer gets the number of a freed one of another size.
    """

    def __init__(self, context: cl.Context) -> None:
        super().__init__(context, reuse=False)
        self.hoard: list[object] = []

    def take_back(self, cell: Cell, *, lasting: bool = False) -> None:
        self._count(-1, lasting=lasting)
        self.hoard.append(cell)

    def release(self, constant: cl.Buffer) -> None:
        self.hoard.append(constant)


@pytest.fixture(scope="module")
def session() -> Session:
    opened = Session(Settings(platform="Oclgrind"))
    opened.memory = Hoard(opened.platform.context)
    return opened


@pytest.fixture
def said() -> Iterator[list[str]]:
    """Return the lines that oclgrind wrote since the test began, once it asks; there must be none left at the end."""
    start = LOG.stat().st_size if LOG.exists() else 0
    lines: list[str] = []
    yield lines
    lines += LOG.read_text()[start:].splitlines()
    assert not lines, "\n".join(lines[:20])


@pytest.mark.parametrize("what", PLANTED)
def test_what_is_planted_is_found(what: str, session: Session) -> None:
    context, queue = session.platform.context, session.platform.queues[0]
    before = LOG.read_text() if LOG.exists() else ""
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 32)
    kernel = cl.Kernel(cl.Program(context, PLANTED[what]).build(), "planted")
    kernel.set_args(buffer)
    cl.enqueue_nd_range_kernel(queue, kernel, (8,), (4,))
    queue.finish()
    assert what in LOG.read_text()[len(before) :]


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("op", sorted(WANTED))
def test_the_suites_own_cases_run_clean(
    op: str,
    settings: str,
    session: Session,
    said: list[str],
) -> None:
    backend = OpenCL(Settings(platform="Oclgrind", **SETTINGS[settings]))
    backend.__dict__["session"] = session
    cases: list[Case] = []
    for draws in Plan(ops=(op,), examples=5, suites=SHORT).draws():
        draw_cases(draws.domain, draws.examples, 7, cases.append)
    ran = 0
    for subject in map(meaning, cases):
        if supported(backend.claims, [step.op for step in subject.case.program.collectives], subject.features) is None:
            (seen,) = observations(backend, [followed(subject.case)])
            verdict = judge(subject, seen, clauses_of)
            assert verdict.outcome == "passed", (subject.case, verdict)
            ran += not seen.raised
    assert ran >= FEWEST
    assert session.memory.live == 0
