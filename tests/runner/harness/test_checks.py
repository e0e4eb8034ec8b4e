"""`conformance harness check`: what a harness does against the protocol is told by the check that is about it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.runner.harness.checks import CHECKS, check
from tests.cli.conftest import Conformance, conformance  # noqa: F401 - a fixture

PROGRAM = Path(__file__).with_name("program.py")

FLAWS = {
    "greets first": "hello",
    "another version": "hello",
    "another name each time": "again",
    "answers in pairs, turned": "order",
    "answers twice": "cases",
    "wrong shapes": "cases",
    "reads a line at a time from what came": "pieces",
    "wants its own spelling": "JSON",
    "reads no files": "files",
    "removes files": "file names",
    "refuses nothing": "refusals",
    "dies of other requests": "others",
    "loses what is beyond a thousand": "flood",
    "answers on standard output too": "channel",
    "ends with 3": "stop",
    "does not end": "stop",
    "wants stop": "end",
}


def failed(how: str) -> set[str]:
    found = check((sys.executable, str(PROGRAM), how), 4.0)
    return {one.check for one in found if one.outcome == "failed"}


def test_a_harness_that_keeps_to_the_protocol_passes_every_check() -> None:
    found = list(check((sys.executable, str(PROGRAM)), 10.0))
    assert [one for one in found if one.outcome != "passed"] == []
    assert [one.check for one in found] == ["hello", *CHECKS]


@pytest.mark.slow
@pytest.mark.parametrize("how", FLAWS)
def test_a_flaw_is_told_by_the_check_that_is_about_it(how: str) -> None:
    assert FLAWS[how] in failed(how)


def test_a_program_that_says_nothing_is_one_line(conformance: Conformance) -> None:  # noqa: F811
    ended = conformance("harness", "check", "true")
    assert (ended.status, ended.out.count("\n"), "hello" in ended.out) == (1, 1, True)


def test_a_command_that_is_not_there_is_one_line(conformance: Conformance) -> None:  # noqa: F811
    ended = conformance("harness", "check", "./nothing")
    assert (ended.status, ended.err.count("\n"), "./nothing" in ended.err) == (2, 1, True)
