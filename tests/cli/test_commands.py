from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli.lazy_group import uninterrupted
from conformance.specs import OPS, every_clause
from tests.cli.conftest import Conformance


def test_help_imports_no_library_that_computes() -> None:
    code = "import sys; from conformance.cli import main; main(['--help']); print(sorted(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "Commands:" in out
    assert not {"numpy", "hypothesis", "rich.table", "conformance.specs"} & set(out.split("'"))


def test_the_module_is_the_command() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "conformance", "nonsense"], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 2
    assert "unknown command 'nonsense'" in ended.stderr


def test_every_command_explains_itself(conformance: Conformance) -> None:
    for words in (
        "doctor",
        "backends",
        "spec",
        "smoke",
        "run",
        "replay",
        "known",
        "schedule",
        "report",
        "qualify",
        "bench suite",
    ):
        ended = conformance(*words.split(), "--help")
        assert ended.status == 0
        assert "--json" in ended.out


def test_spec_lists_operations_and_json_has_every_clause(conformance: Conformance) -> None:
    assert all(op in conformance("spec").out for op in OPS)
    data = json.loads(conformance("spec", "--json").out)
    assert [op["name"] for op in data["operations"]] == list(OPS)


def test_spec_answers_to_a_frameworks_name(conformance: Conformance) -> None:
    assert "all_reduce.C2" in conformance("spec", "psum").out
    assert json.loads(conformance("spec", "lax.ppermute", "--json").out)["name"] == "permute"
    assert json.loads(conformance("spec", "torch.distributed.all_reduce", "--json").out)["name"] == "all_reduce"


def test_spec_shows_a_source_in_full_and_who_cites_it(conformance: Conformance) -> None:
    assert "Apache-2.0" in conformance("spec", "all_gather.C1").out
    data = json.loads(conformance("spec", "jax.pshuffle", "--json").out)
    assert [clause["id"] for clause in data["clauses"]] == ["shuffle.C1", "shuffle.C2", "transposes.C3"]
    assert data["clauses"][0]["cites"][0]["version"] == "0.10.0"


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_spec_refuses_an_unknown_source_in_one_line(conformance: Conformance, words: tuple[str, ...]) -> None:
    ended = conformance("spec", "jax.psummer", *words)
    assert ended.status == 2
    assert "jax.psum" in ended.err


def test_spec_prints_one_clause(conformance: Conformance) -> None:
    ended = conformance("spec", "collective.C14")
    assert "should" in ended.out
    assert "reports a wrong argument" in ended.out


def test_spec_says_whom_a_law_binds(conformance: Conformance) -> None:
    assert "a must for backends that give the guarantee run_to_run" in conformance("spec", "determinism.C8").out
    assert json.loads(conformance("spec", "determinism.C8", "--json").out)["guarantee"] == "run_to_run"


def test_backends_lists_what_is_installed_and_what_is_missing(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.backends.discovery._installed", lambda name: name != "jax")
    assert "pip install 'mesh-conformance[jax]'" in conformance("backends").out
    listed = {
        entry["name"]: entry["problem"] for entry in json.loads(conformance("backends", "--json").out)["backends"]
    }
    assert {"jax", "opencl", "reference", "torch"} <= set(listed)


def test_doctor_starts_what_is_there_and_says_what_is_not(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "conformance.backends.discovery._installed", lambda name: name not in {"jax", "torch", "mpi4py", "tinygrad"}
    )
    ended = conformance("doctor")
    assert ended.status == 0, ended
    shown = ended.out.splitlines()
    assert len(shown) <= 24
    assert any(line.split()[:2] == ["works", "reference:"] for line in shown)
    (jax,) = (line for line in shown if line.endswith("jax not installed; run: pip install 'mesh-conformance[jax]'"))
    assert jax.split(":")[0].split() == ["missing", "jax,", "jax-explicit,", "jax-unchecked,", "jax-vmap"]
    assert shown[-1].startswith("next: `conformance run`")


def test_smoke_passes_the_reference_and_blames_the_adapter_of_a_wrong_backend(
    conformance: Conformance, wrong: str
) -> None:
    assert conformance("smoke", "-b", "reference").status == 0
    ended = conformance("smoke", "-b", wrong, "--in-process")
    assert ended.status == 1
    assert "breaks broadcast.C" in ended.out
    assert "look at the adapter" in ended.out
    assert json.loads(conformance("smoke", "-b", wrong, "--in-process", "--json").out)["status"] == 1


def test_replay_shows_the_program_the_values_and_the_verdict(
    conformance: Conformance, case_file: Path, wrong: str
) -> None:
    ended = conformance("replay", case_file, "-b", f"reference,{wrong}", "--in-process")
    assert ended.status == 1
    for line in (
        "y = broadcast(x, root=1) over i",
        "x on 0: int32[1] [1]",
        "y on 0-2: int32[1] [2]",
        "verdict: passed",
        "verdict: failed: y on rank 0: 1 of 1 elements differ; element [0] is 1 (0x00000001), expected 2 (0x00000002)",
        "broken   broadcast.C1",
        "<- to blame",
    ):
        assert line in ended.out


def test_replay_as_json(conformance: Conformance, case_file: Path) -> None:
    data = json.loads(conformance("replay", case_file, "-b", "reference", "--json").out)
    assert data["backends"]["reference"]["outcome"] == "passed"
    assert data["backends"]["reference"]["clauses"]["broadcast.C1"] == "held"


def test_report_joins_runs_in_a_folder_of_its_own(conformance: Conformance, earlier: Conformance, wrong: str) -> None:
    for words, folder in ((("-b", "reference"), "one"), (("-b", wrong, "--in-process"), "two")):
        earlier(*words[:2], "--op", "broadcast", "--examples", 100, *words[2:])
        Path("out").rename(folder)
    ended = conformance("report", "one", "two", "-o", "both")
    assert ended.status == 1
    assert Path("both/index.html").is_file()
    assert len(json.loads(conformance("report", "one", "two", "--json").out)["backends"]) == 2


def test_bench_counts_distinct_answered_cases_and_splits_the_time(conformance: Conformance) -> None:
    ended = conformance("bench", "suite", "-b", "reference", "--op", "broadcast", "--examples", 30, "--json")
    fresh, cached = json.loads(ended.out)["measured"]
    assert (fresh["kind"], cached["kind"]) == ("fresh", "cached")
    assert fresh["cases"] == cached["cases"] > 20
    assert fresh["phases"].keys() == {"drawing", "reference", "judging", "waiting"}
    assert sum(fresh["phases"].values()) == pytest.approx(fresh["seconds"], rel=0.1)
    assert 0 < fresh["reference_share"] < 1


def test_qualify_kills_the_mutants_of_a_module_and_says_by_which_clause(conformance: Conformance, wrong: str) -> None:
    module = wrong.partition(":")[0]
    ended = conformance("qualify", "--mutants", module, "--examples", 20, "--in-process", "--json")
    assert ended.status == 0
    assert json.loads(ended.out)["mutants"][0]["clause"] in every_clause()
    assert "1 of 1 mutants killed" in conformance("qualify", "--mutants", module, "--examples", 20).out


def test_an_interrupted_run_says_how_to_go_on(conformance: Conformance, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.cli.commands.run.explore", interrupt)
    ended = conformance("run", "-b", "reference")
    assert ended.status == 3
    assert "interrupted" in ended.err
    assert "--resume" in ended.err
    assert not Path("runs").exists()


def test_output_that_nobody_reads_ends_a_command_with_3_and_no_word() -> None:
    command = [sys.executable, "-m", "conformance", "spec"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.wait() == 3
        assert running.stderr is not None
        assert running.stderr.read() == b""


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be put off here")
def test_a_signal_waits_until_a_command_is_imported() -> None:
    came: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: came.append(number))
    try:
        with uninterrupted():
            signal.raise_signal(signal.SIGTERM)
            assert not came
        assert came == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, before)


def test_spec_says_all_that_a_method_is_called_with(conformance: Conformance) -> None:
    ragged = conformance("spec", "ragged_all_to_all").out
    assert "input_offsets: list[Array], send_sizes: list[Array], output_offsets: list[Array]" in ragged
    assert "slice i goes to member i // (K / size)" in ragged
    assert "`op` is one of sum, mean" in conformance("spec", "all_reduce").out
    given = json.loads(conformance("spec", "arg_reduce", "--json").out)
    assert [one["name"] for one in given["parameters"]] == ["blocks", "op", "groups"]
    assert given["notes"].endswith("``op`` is one of max, min.")
