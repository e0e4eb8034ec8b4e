"""Processes that judge slices: forked from one template, and told of as processes that were started are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from conformance.cli.slice_forks import FORKS, Template
from conformance.cli.slice_job import Job, SliceRequest
from conformance.cli.slice_processes import LOST, SliceProcess
from conformance.runner.log.copy import Copy
from conformance.runner.log.environment import digests
from conformance.runner.log.log import line_of
from conformance.runner.plan import Plan
from conformance.runner.slices.handed import read_handed

pytestmark = pytest.mark.skipif(not FORKS, reason="processes are forked on Linux alone")

PLAN = Plan(ops=("broadcast",), examples=20, suites=("collectives",))
JOB = Job(("reference",), PLAN, *digests())


@pytest.fixture(scope="module")
def template() -> Iterator[Template]:
    found = Template()
    yield found
    found.close()


def forked(template: Template) -> psutil.Process:
    """Return the one process that is forked now."""
    (found,) = psutil.Process(template.pid).children()
    return found


def test_a_forked_process_judges_as_a_started_one(template: Template, tmp_path: Path) -> None:
    contents = []
    for name, of in (("forked", template), ("started", None)):
        process = SliceProcess(JOB, of)
        said = process.judge(SliceRequest(1, 2, str(tmp_path / name)))
        process.close()
        assert (said.status, process.ended()) == (0, True)
        contents.append([line for line in said.content.splitlines() if b'"type":"case"' in line])
    assert [line.split(b'"seconds"')[0] for line in contents[0]] == [
        line.split(b'"seconds"')[0] for line in contents[1]
    ]
    assert len(contents[0]) > 5


def test_a_slice_that_was_handed_over_is_held_compressed(template: Template, tmp_path: Path) -> None:
    process = SliceProcess(JOB, template)
    content = process.judge(SliceRequest(1, 1, str(tmp_path / "slice"))).content
    process.close()
    handed = read_handed(content, "here")
    assert isinstance(handed.records, Copy)
    assert len(handed.records) * 3 < handed.length
    assert b"".join(map(line_of, handed.records)) == content.partition(b"\n")[2]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_how_a_forked_process_ended_is_told(template: Template, number: signal.Signals, tmp_path: Path) -> None:
    process = SliceProcess(JOB, template)
    process.judge(SliceRequest(1, 2, str(tmp_path / "slice")))
    forked(template).send_signal(number)
    said = process.judge(SliceRequest(2, 2, str(tmp_path / "other")))
    process.close()
    assert (said.status, f"was ended by signal {number:d}" in said.why) == (LOST, True), said.why


def test_a_forked_process_ends_in_order_when_it_is_told_to(template: Template, tmp_path: Path) -> None:
    process = SliceProcess(JOB, template)
    process.judge(SliceRequest(1, 2, str(tmp_path / "slice")))
    workers = forked(template).children()
    process.terminate()
    process.close()
    gone, left = psutil.wait_procs(workers, 60)
    assert (len(gone), left) == (1, [])


def test_a_process_whose_template_was_killed_is_lost(tmp_path: Path) -> None:
    template = Template()
    process = SliceProcess(JOB, template)
    process.judge(SliceRequest(1, 2, str(tmp_path / "slice")))
    left = forked(template)
    os.kill(template.pid, signal.SIGKILL)
    process.close()
    template.close()
    left.wait(60)
    assert (process.ended(), template.ended()) == (True, True)


LEFT = """
import sys
from conformance.cli.slice_processes import judge
job = sys.stdin.buffer.read()
print(judge(job, 1, 2).status)
"""


def test_who_ends_without_a_word_to_its_processes_closes_them() -> None:
    said = subprocess.run(
        [sys.executable, "-X", "dev", "-c", LEFT], input=JOB.key(), capture_output=True, check=True, timeout=100
    )
    assert (said.stdout, said.stderr) == (b"0\n", b"")
