"""Commands of users that start ranks."""

from __future__ import annotations

import pytest

from conformance.backends.launched import Command

HOSTS, LAUNCH = "CONFORMANCE_IT_HOSTS", "CONFORMANCE_IT_LAUNCH"


def test_worlds_that_hosts_and_processes_cannot_share_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOSTS, "3")
    assert Command("IT").within({"broadcast": {"dtype": ["int8"]}})["broadcast"]["world"][:3] == ["3", "6", "9"]
    assert Command("IT", devices=2).within({"broadcast": {}})["broadcast"]["world"][:3] == ["6", "12", "18"]
    assert Command("IT", devices=2).uneven(9) == "9 ranks are not as many on each of 3 hosts, 2 a process"
    monkeypatch.setenv(HOSTS, "none")
    with pytest.raises(ValueError, match="is 'none', and no number from 1 to 64"):
        Command("IT").within({})


def test_a_command_that_says_no_number_of_processes_or_no_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LAUNCH, "torchrun")
    with pytest.raises(ValueError, match=r"is 'torchrun', without \{ranks\} or \{each\}"):
        Command("IT").checked()
    monkeypatch.setenv(LAUNCH, "/nowhere/torchrun --nproc-per-node {each}")
    with pytest.raises(FileNotFoundError, match="is no program here"):
        Command("IT").checked()


def test_numbers_stand_where_the_command_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HOSTS, "2")
    monkeypatch.setenv(LAUNCH, "env -n {processes} --each {each} --port {port}")
    words = Command("IT", "processes", 2).words(8, 1)
    assert words == ["env", "-n", "4", "--each", "2", "--port", "29501"]
