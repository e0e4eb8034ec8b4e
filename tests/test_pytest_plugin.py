from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from conformance import pytest_items  # noqa: F401 - loaded once: pytester forgets what a session of its own loads
from conformance.runner.log.reading import read
from conformance.runner.records.record import CaseRecord, Failure, Header

pytest_plugins = ["pytester"]

WRONG = """
from conformance.qualification.mutants.determinism import EveryRankBeginsWithItself
from conformance.backends.reference import Reference

class Wrong(Reference):
    name = "wrong"

    def broadcast(self, blocks, *, root, groups):
        return list(blocks)

class Free(EveryRankBeginsWithItself):
    guarantees = ()

class Mute(Reference):
    name = "mute"

    @property
    def claims(self):
        return {"broadcast": {"dtype": ["int32"]}}
"""

SMALL = ("--conformance-examples", "20", "--conformance-run-dir", "out", "-p", "no:cacheprovider")
ONE_SUITE = (*SMALL, "--conformance-suite", "collectives")


@pytest.fixture
def vendor(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return a project with a wrong backend and a test of its own."""
    pytester.makepyfile(wrong_vendor=WRONG, test_own="def test_own():\n    pass\n")
    monkeypatch.setenv("PYTHONPATH", str(pytester.path), prepend=os.pathsep)
    return pytester


def test_an_item_for_each_backend_operation_and_clause(vendor: pytest.Pytester) -> None:
    result = vendor.runpytest("--conformance-backend", "reference", "--collect-only", "-q")
    result.stdout.fnmatch_lines(["conformance::reference::all_gather::all_gather.C2"])
    result.stdout.fnmatch_lines(["conformance::reference::all_gather::collective.C4"])
    result.stdout.no_fnmatch_line("*test_own*")


def test_other_tests_run_too_when_they_are_named(vendor: pytest.Pytester) -> None:
    result = vendor.runpytest_subprocess("--conformance-backend", "reference", "test_own.py", "-k", "test_own", *SMALL)
    result.assert_outcomes(passed=1)
    assert not (vendor.path / "out").exists()


def test_without_the_option_nothing_is_added_and_nothing_heavy_imported(vendor: pytest.Pytester) -> None:
    vendor.runpytest_subprocess().assert_outcomes(passed=1)
    code = "import sys, conformance.pytest_plugin; print(sorted(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "hypothesis", "msgspec", "conformance.specs"} & set(out.split("'"))


def test_the_clause_to_blame_fails_and_the_log_is_that_of_a_run(vendor: pytest.Pytester) -> None:
    arguments = ("--conformance-backend", "wrong_vendor:Wrong", "-k", "broadcast", *ONE_SUITE)
    result = vendor.runpytest_subprocess(*arguments)
    result.stdout.fnmatch_lines(
        [
            "*broadcast.C1 (must): In a broadcast every member of a group receives the block of the root*",
            "*conformance replay out/cases/*",
            "*FAILED conformance::wrong_vendor:Wrong::broadcast::broadcast.C1*",
        ]
    )
    assert result.ret == 1
    records = read(vendor.path / "out" / "run.jsonl")
    assert isinstance(records[0], Header)
    assert records[0].ops == ("broadcast",)
    assert "broadcast.C1" in {record.clause for record in records if isinstance(record, Failure)}


def test_the_same_seed_gives_both_front_doors_the_same_cases(vendor: pytest.Pytester) -> None:
    vendor.runpytest_subprocess(
        "--conformance-backend", "reference", "-k", "broadcast", "--conformance-seed", "7", *ONE_SUITE
    )
    words = ("--op", "broadcast", "--suite", "collectives", "--seed", "7", "--examples", "20", "-o", "cli")
    conformance(vendor, "run", "-b", "reference", *words)
    first, second = (
        [record.case for record in read(vendor.path / place / "run.jsonl") if isinstance(record, CaseRecord)]
        for place in ("out", "cli")
    )
    assert first == second != []


@pytest.mark.parametrize(
    ("backend", "outcome"),
    [
        ("conformance.qualification.mutants.determinism:EveryRankBeginsWithItself", "failed"),
        ("wrong_vendor:Free", "xfailed"),
    ],
)
def test_a_law_fails_for_whoever_guarantees_it_and_is_expected_to_of_others(
    vendor: pytest.Pytester, backend: str, outcome: str
) -> None:
    only = ("--conformance-suite", "determinism", "-k", "all_reduce and determinism.C1")
    vendor.runpytest_subprocess("--conformance-backend", backend, *only, *SMALL).assert_outcomes(**{outcome: 1})


def test_what_is_unsupported_or_not_exercised_is_skipped_with_the_reason(vendor: pytest.Pytester) -> None:
    arguments = ("--conformance-backend", "wrong_vendor:Mute", "-k", "all_gather.C2 or broadcast.C1", "-rs", *ONE_SUITE)
    result = vendor.runpytest_subprocess(*arguments)
    result.assert_outcomes(passed=1, skipped=1)
    result.stdout.fnmatch_lines(["*all_gather.C2 was not exercised; all_gather is not claimed*"])


def test_a_run_that_is_not_whole_is_never_green(vendor: pytest.Pytester) -> None:
    result = vendor.runpytest_subprocess(
        "--conformance-backend",
        "reference",
        "-k",
        "permute",
        "--conformance-examples",
        "1",
        "--conformance-run-dir",
        "out",
    )
    assert result.ret == 3
    result.stdout.fnmatch_lines(["incomplete: never exercised: permute.C*"])


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("opencll", "ERROR: unknown backend 'opencll'; did you mean 'opencl'?*"),
        ("no.such:Thing", "ERROR: backend 'no.such:Thing': no module 'no'*"),
    ],
)
def test_an_unknown_backend_is_a_usage_error(vendor: pytest.Pytester, name: str, says: str) -> None:
    result = vendor.runpytest("--conformance-backend", name)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([says])


def test_an_earlier_run_is_not_overwritten(vendor: pytest.Pytester) -> None:
    (vendor.path / "out").mkdir()
    (vendor.path / "out" / "run.jsonl").write_text(json.dumps("mine"))
    result = vendor.runpytest("--conformance-backend", "reference", "-k", "broadcast.C1", *ONE_SUITE)
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*exists: choose another folder with -o*"])
    assert (vendor.path / "out" / "run.jsonl").read_text() == '"mine"'


def test_known_failures_are_expected_and_one_that_passes_fails(vendor: pytest.Pytester) -> None:
    words = ("wrong_vendor:Wrong", "--op", "broadcast", "--suite", "collectives", "--examples", "20", "-o", "first")
    conformance(vendor, "run", "-b", *words)
    who = ("--issue", "https://acme.example/7", "--owner", "Ann", "--expiry", "2999-12-31")
    conformance(vendor, "known", "first", "-o", "known.json", *who)
    arguments = ("--conformance-known", "known.json", "-k", "broadcast.C1", "-rx", *ONE_SUITE)
    result = vendor.runpytest_subprocess("--conformance-backend", "wrong_vendor:Wrong", *arguments)
    result.assert_outcomes(xfailed=1)
    result.stdout.fnmatch_lines(["*known failure, owner Ann, expires 2999-12-31: https://acme.example/7*"])
    other = ("--conformance-run-dir", "next")
    text = (vendor.path / "known.json").read_text()
    (vendor.path / "known.json").write_text(text.replace("wrong_vendor:Wrong", "reference"))
    result = vendor.runpytest_subprocess("--conformance-backend", "reference", *arguments, *other)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*known.json:*passes although it is known to fail*"])


def test_a_known_failure_that_is_not_in_order_is_a_usage_error(vendor: pytest.Pytester) -> None:
    (vendor.path / "known.json").write_text('[\n{"case": 5}]')
    result = vendor.runpytest("--conformance-backend", "reference", "--conformance-known", "known.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: known.json:2: *case should be the id that a log and the case file have*"])


def conformance(vendor: pytest.Pytester, *words: str) -> None:
    """Run the command in the vendor's project; a run that fails is no error here."""
    subprocess.run([sys.executable, "-m", "conformance", *words], cwd=vendor.path, check=False, capture_output=True)


@pytest.mark.parametrize(
    ("option", "says"), [("suite", "unknown suite 'nigtly'"), ("profile", "unknown profile 'nigtly'*")]
)
def test_an_unknown_suite_or_profile_is_a_usage_error(pytester: pytest.Pytester, option: str, says: str) -> None:
    result = pytester.runpytest("--conformance-backend", "reference", f"--conformance-{option}", "nigtly")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {says}*"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--conformance-backend", ""), "--conformance-backend names nothing"),
        (("--conformance-backend", "reference", "--conformance-examples", "0"), "0 is not in the range x>=1"),
        (("--conformance-backend", "reference", "--conformance-seed", "-1"), "-1 is not in the range x>=0"),
    ],
)
def test_an_option_out_of_its_range_is_a_usage_error(
    vendor: pytest.Pytester, words: tuple[str, ...], says: str
) -> None:
    result = vendor.runpytest(*words)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{says}*"])


def test_a_folder_that_cannot_be_written_is_told_with_its_own_option(vendor: pytest.Pytester) -> None:
    (vendor.path / "taken").write_text("mine")
    options = ("--conformance-backend", "reference", "--conformance-run-dir", "taken/out", "-k", "barrier.C1")
    result = vendor.runpytest(*options)
    result.stdout.fnmatch_lines(["*choose another folder with --conformance-run-dir*"])


def test_operations_and_a_budget_are_those_of_the_command(vendor: pytest.Pytester) -> None:
    arguments = ("--conformance-backend", "reference", *ONE_SUITE, "--conformance-examples", "100")
    listed = vendor.runpytest(
        "--conformance-backend", "reference", "--conformance-op", "broadcast", "--collect-only", "-q"
    )
    listed.stdout.fnmatch_lines(["conformance::reference::broadcast::broadcast.C1"])
    listed.stdout.no_fnmatch_line("*::all_gather::*")
    result = vendor.runpytest_subprocess(*arguments, "--conformance-op", "broadcast", "--conformance-time-budget", "5m")
    header = read(vendor.path / "out" / "run.jsonl")[0]
    assert isinstance(header, Header)
    assert (result.ret, header.ops) == (0, ("broadcast",))


def test_a_spent_budget_is_never_green(vendor: pytest.Pytester) -> None:
    arguments = ("--conformance-backend", "reference", "--conformance-run-dir", "out", "-p", "no:cacheprovider")
    result = vendor.runpytest_subprocess(
        *arguments, "--conformance-op", "all_reduce", "--conformance-time-budget", "0.01s"
    )
    assert result.ret == 3
    result.stdout.fnmatch_lines(["incomplete: *--conformance-time-budget"])


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--conformance-op", "brodcast", "unknown operation 'brodcast'; did you mean 'broadcast'?"),
        ("--conformance-op", "", "names nothing"),
        ("--conformance-time-budget", "soon", "'soon' is no length of time; write 90, 90s, 10m or 1h"),
        ("--conformance-time-budget", "-1", "'-1' is no length of time"),
    ],
)
def test_a_wrong_operation_or_budget_is_one_line(vendor: pytest.Pytester, option: str, value: str, says: str) -> None:
    result = vendor.runpytest("--conformance-backend", "reference", f"{option}={value}")
    result.stderr.fnmatch_lines([f"*{says.replace('[', '[[]')}*"])
    assert (result.ret, "Traceback" in result.stderr.str()) == (4, False)
