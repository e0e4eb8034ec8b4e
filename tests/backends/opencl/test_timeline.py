"""When the devices really ran each item: those that conflict never at the same time, within a program and across."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import itertools
import sys
import numpy as np
from conformance.backends.opencl import OpenCL
from conformance.backends.opencl.settings import Settings
from conformance.cases.program import Axis, Program, Step

force = sys.argv[1]
backend = OpenCL(Settings(force=force, profile=True))
engine = backend.engine

def step(op, source, target, /, **attrs):
    return Step(op=op, inputs=(source,), outputs=(target,), axes=("i",), attrs=attrs)

steps = (
    step("permute", "x", "p", pairs=((0, 1), (1, 2), (2, 3), (3, 0))),
    step("all_reduce", "p", "s", op="max"),
    step("all_gather", "s", "g", axis=0, tiled=True),
    step("reduce_scatter", "g", "r", op="max", axis=0, tiled=True),
    step("all_reduce", "r", "y", op="max"),
)
program = Program(mesh=(Axis("i", 4),), steps=steps, results=("y", "p"))
blocks = [np.random.default_rng(rank).integers(0, 2**30, 800000).astype(np.uint32) for rank in range(4)]
runs, value = [], engine.put([(block, block) for block in blocks])
for _ in range(4):
    started = engine.start(program, {"x": value})
    value = started.done()["y"]
    runs.append(started)

checked = 0
def clash(one, two, place_of, place_in, first, second):
    global checked
    for a, b in itertools.product(one.accesses, two.accesses):
        same = place_of(a.node) is not None and place_of(a.node) == place_in(b.node)
        if same and (a.write or b.write) and a.start < b.stop and b.start < a.stop:
            checked += 1
            assert first[1] <= second[0], (one, two, first, second)

timelines = [started.timeline() for started in runs]
for started, timeline in zip(runs, timelines):
    plan = started.plan.schedule
    place = plan.places.get
    for (one, first), (two, second) in itertools.combinations(zip(plan.items, timeline), 2):
        clash(one, two, place, place, first, second)

# What a program gives is what the next one takes, rank by rank.
for (earlier, before), (later, after) in itertools.pairwise(zip(runs, timelines)):
    given = {block.node: rank for rank, block in enumerate(earlier.plan.lowered.results["y"])}
    taken = {node: node.device for node in later.plan.schedule.inputs}
    for one, first in zip(earlier.plan.schedule.items, before):
        for two, second in zip(later.plan.schedule.items, after):
            clash(one, two, given.get, taken.get, first, second)
assert checked > 100, checked
"""


@pytest.mark.parametrize("force", ["direct", "ring"])
def test_items_that_conflict_never_overlap_in_the_real_timeline(force: str) -> None:
    # A process of its own, for PoCL makes its devices once.
    environment = {**os.environ, "POCL_DEVICES": "pthread pthread pthread pthread"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, force], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
