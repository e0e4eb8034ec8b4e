"""The backend as a whole, on every algorithm, against the oracle."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from conformance.backends.claim_limits import supported
from conformance.backends.observing import observations
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.graph.attributes import WANTED
from conformance.backends.opencl.runtime.engine import Started
from conformance.backends.opencl.runtime.session import Session
from conformance.backends.opencl.runtime.value import DeviceValue
from conformance.backends.opencl.settings import ALGORITHMS, PLATFORM, POCL
from conformance.cases.case import Case, Operand
from conformance.cases.declarations.terms import terms
from conformance.cases.program.features import features
from conformance.cases.program.health import followed
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.dtypes import DRAWN, NUMPY
from conformance.cases.tensor.layout import LAYOUTS
from conformance.cases.tensor.tensor import from_array
from conformance.judging.subject import Subject
from conformance.judging.verdict import judge
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import bound, meaning
from conformance.runner.plan import Plan
from conformance.specs import OPS

MANY = """
import sys
from conformance.backends.claim_limits import supported
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.settings import ALGORITHMS, Settings
from conformance.backends.observing import observations
from conformance.cases.program.features import features
from conformance.cases.program.health import followed
from conformance.cases.declarations.terms import terms
from conformance.judging.verdict import judge
from conformance.runner.draws import draw_cases
from conformance.runner.meaning import bound, meaning
from conformance.runner.plan import Plan
from conformance.specs import OPS
session = OpenCL().session
claims = OpenCL().claims
def claimed(case):
    return supported(claims, [step.op for step in case.program.collectives], features(case)) is None
for name in OPS:
    cases, bad = [], []
    for draws in Plan(ops=(name,), examples=EXAMPLES).draws():
        draw_cases(draws.domain, draws.examples, 5, cases.append)
    subjects = [meaning(case) for case in cases if claimed(case)]
    for algorithm in ALGORITHMS:
        backend = OpenCL(Settings(force=algorithm))
        backend.__dict__["session"] = session
        for subject in subjects:
            (seen,) = observations(backend, [followed(subject.case)])
            verdict = judge(subject, seen, bound(terms(backend.guarantees)))
            if verdict.outcome != "passed":
                bad.append((algorithm, subject.case, verdict))
    if bad:
        sys.exit(f"{name}: {len(bad)} of {len(cases)} cases broke, the first {bad[0]}")
assert session.memory.live == 0
"""


@functools.cache
def drawn(op: str, examples: int) -> list[Subject]:
    cases: list[Case] = []
    for draws in Plan(ops=(op,), examples=examples).draws():
        draw_cases(draws.domain, draws.examples, 3, cases.append)
    claims = OpenCL().claims
    asked = [
        case for case in cases if supported(claims, [s.op for s in case.program.collectives], features(case)) is None
    ]
    return [meaning(case) for case in asked]


def test_it_claims_every_operation_and_dtype_of_the_specification(opencl: Any) -> None:
    claims = opencl().claims
    typed = {"typed_program", "transposed_program", "batched_program", "pushed_program", "lowered_program"}
    assert set(claims) == {*OPS, "graph", "sharded", *typed, "schedule_of_graph", "schedule_of_program"}
    assert all(set(claims[op]["dtype"]) == set(NUMPY) and len(claims[op]["world"]) == 64 for op in OPS)


@pytest.mark.parametrize(("turn", "algorithm"), [*enumerate(ALGORITHMS)], ids=ALGORITHMS)
@pytest.mark.parametrize("op", sorted(WANTED))
def test_the_suites_own_domain_holds_on_every_algorithm(
    op: str, turn: int, algorithm: str, opencl: Any, session: Session
) -> None:
    backend = opencl(force=algorithm)
    for subject in drawn(op, 30)[turn % 3 :: 3]:  # Each case on two algorithms; at night each of 1000 on all six.
        case = subject.case
        (seen,) = observations(backend, [followed(case)])
        verdict = judge(subject, seen, bound(terms(backend.guarantees)))
        assert verdict.outcome == "passed", (case, verdict)
    assert session.memory.live == 0


def run_many(examples: int, platform: str, devices: str) -> None:
    # A process of its own, for PoCL makes its devices once.
    environment = {**os.environ, PLATFORM: platform, "POCL_DEVICES": devices}
    script = MANY.replace("EXAMPLES", str(examples))
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=1800, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("platform", "devices"), [("", "basic"), (POCL, "basic"), (POCL, "pthread")])
def test_a_thousand_cases_an_operation_hold_on_every_kind_of_device(platform: str, devices: str) -> None:
    run_many(1000, platform, " ".join([devices] * 8))


@pytest.mark.slow
@pytest.mark.parametrize("devices", ["basic", "pthread pthread pthread"])
def test_ranks_share_devices_where_there_are_fewer(devices: str) -> None:
    run_many(3, POCL, devices)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dtype", DRAWN)
def test_every_layout_at_once_gives_the_same_bits(
    dtype: str, algorithm: str, opencl: Any, make_case: Any, agree: Any
) -> None:
    blocks = [np.broadcast_to((np.arange(6) % 2 + rank % 2).astype(NUMPY[dtype]), (4, 6)).copy() for rank in range(6)]
    for op in ("sum", "mean", "product", *(() if "complex" in dtype else ("max", "min"))):
        case = make_case("all_reduce", blocks, layouts=LAYOUTS, groups=((5, 0, 3), (1, 4), (2,)), op=op)
        agree(case, opencl(force=algorithm).execute(case))


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_steps_chain_on_the_devices(algorithm: str, opencl: Any, agree: Any) -> None:
    def step(operation: str, source: str, target: str, /, **attrs: object) -> Step:
        return Step(op=operation, inputs=(source,), outputs=(target,), axes=("a", "b"), attrs=attrs)

    steps = (
        step("reduce_scatter", "x", "s", op="sum", axis=0, tiled=True),
        step("permute", "s", "p", pairs=((0, 1), (1, 3))),
        step("all_gather", "p", "g", axis=-1, tiled=False),
        step("all_to_all", "x", "t", split_axis=0, concat_axis=1, tiled=True),
    )
    program = Program(mesh=(Axis("a", 2), Axis("b", 2)), steps=steps, results=("g", "x", "t", "s"))
    blocks = tuple(from_array(np.arange(24, dtype=np.int32).reshape(8, 3) + rank) for rank in range(4))
    layouts = ("transposed", "flipped", "offset", "strided")
    case = Case(program=program, inputs={"x": Operand(blocks=blocks, layouts=layouts)})
    agree(case, opencl(force=algorithm).execute(case))


def test_what_a_device_did_to_an_input_is_seen(opencl: Any, make_case: Any, monkeypatch: Any) -> None:
    case = make_case("all_reduce", [np.arange(5, dtype=np.uint8)] * 2, layouts=("contiguous", "offset"), op="max")
    backend = opencl()
    start = backend.engine.start

    def spoil(program: Program, inputs: dict[str, DeviceValue]) -> Started:
        started = start(program, inputs)
        started.wait()
        storage = inputs["x"].storages[1]
        assert storage is not None
        cl.enqueue_copy(backend.session.platform.queues[1], storage.cell.buffer, np.uint8([7]), dst_offset=4)
        return started

    monkeypatch.setattr(backend.engine, "start", spoil)
    (touched,) = backend.execute(case).touched
    assert (touched.input, touched.rank, touched.index) == ("x", 1, 4)


def test_a_65th_rank_is_outside_the_claims_and_refused(opencl: Any, make_case: Any) -> None:
    case = make_case("all_reduce", [np.zeros(2, np.float32)] * 65, op="sum")
    backend = opencl()
    assert supported(backend.claims, ("all_reduce",), features(case)) == "all_reduce: world 65 is not claimed"
    assert backend.execute(case).errors[0].category == "unsupported"


def test_it_says_where_it_ran_and_how_it_chose(opencl: Any) -> None:
    said = opencl(force="ring").describe()
    assert said["platform"].startswith(("Intel(R) OpenCL", POCL))
    assert said["settings force"] == "ring"
    assert {"chosen", "driver", "devices", "queues", "pyopencl"} <= set(said)
