"""Every kind of bad input is one line that says what is wrong and how to mend it, and nothing is overwritten."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import pytest

from conformance.backends import discovery
from conformance.cases.case import Case, Operand
from conformance.cases.codec import save
from conformance.cases.program.operations import described
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import Tensor
from conformance.cli import opening
from conformance.specification.sources import SOURCES
from tests.cli.conftest import Conformance

ONE = ("-b", "reference", "--op", "broadcast", "--examples", 100)

WRONG_WORDS = [
    (("run", "-b", "opencll"), "unknown backend 'opencll'; did you mean 'opencl'?"),
    (("run", "-b", "no.such.module:Thing"), "no module 'no'"),
    (("run", "-b", "exec:no-such-program"), "no-such-program is not an executable program"),
    (("run", "-b", "exec:"), "conformance: backend 'exec:' names no program; write exec:COMMAND"),
    (("run", "-b", "torch-functionl"), "unknown backend 'torch-functionl'; did you mean 'torch-functional'?"),
    (("run", "--op", "all_gathr"), "unknown operation 'all_gathr'; did you mean 'all_gather'?"),
    (("run", "--suite", "collective"), "unknown suite 'collective'; did you mean 'collectives'?"),
    (("run", "--sed", 1), "No such option '--sed'. (Did you mean one of: "),
    (("run", "--examples", 0), "0 is not in the range x>=1"),
    (("run", "--seed", "x"), "'x' is not a valid integer range"),
    (("run", "--time-budget", "soon"), "'soon' is no length of time; write 90, 90s, 10m or 1h"),
    (("run", "--time-budget", "nan"), "'nan' is no length of time"),
    (("run", "--resume"), "--resume needs the folder of the run to go on with: -o DIR"),
    (("rum",), "unknown command 'rum'; did you mean 'run'?"),
    (("nosuch",), "unknown command 'nosuch' (known: doctor, "),
    (("spec", "nosuch.C1"), "unknown operation, clause or source 'nosuch.C1' (`conformance spec` lists"),
    (("bench", "suit"), "unknown command 'suit'; did you mean 'suite'?"),
    (("spec", "all_gather.C99"), "unknown operation, clause or source 'all_gather.C99'; did you mean 'all_gather.C"),
    (("spec", "al_reduce"), "did you mean 'all_reduce'?"),
    (("spec", " "), "an empty word leads nowhere"),
    (("spec", "barrier.C"), "unknown clause or rule 'barrier.C'; did you mean 'barrier.C1'? (there is barrier.C1)"),
    (("spec", "multi.R999"), "unknown clause or rule 'multi.R999'; did you mean 'multi.R"),
    (("replay", "no.json"), "no case file no.json; a run keeps its failing cases in"),
    (("report", "no-such-folder"), "no-such-folder holds no run.jsonl"),
    (("report", ""), "names nothing; give a path"),
    (("report", "a", "./a", "-o", "b"), "a run is given twice; a report has each of them once"),
    (("run", "--case-limit", "99999999999999999999h"), "is more than 720h, which no run takes"),
    (("report", "a", "b"), "a report on several runs needs a folder of its own: -o DIR"),
    (("qualify", "--mutants", "no.such"), "no mutants module 'no.such'"),
    (("report",), "Missing argument 'DIR...'"),
]


@pytest.mark.parametrize(("arguments", "says"), WRONG_WORDS, ids=[" ".join(map(str, a)) for a, _ in WRONG_WORDS])
def test_a_wrong_word_is_one_line_and_status_2(
    conformance: Conformance, arguments: tuple[object, ...], says: str
) -> None:
    ended = conformance(*arguments)
    assert ended.status == 2
    assert says in ended.err
    assert ended.err.count("\n") == 1
    assert not list(Path().iterdir())


def test_a_missing_extra_says_how_to_install_it(conformance: Conformance, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.backends.discovery._installed", lambda name: name != "pyopencl")
    ended = conformance("run", "-b", "opencl")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "pyopencl not installed; run: pip install 'mesh-conformance[opencl]'" in ended.err


def test_no_opencl_platform_is_one_line_that_says_how_to_get_one(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pyopencl").mkdir()
    (tmp_path / "pyopencl" / "__init__.py").write_text("get_platforms = lambda: []\nVERSION_TEXT = '0'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    ended = conformance("run", "-b", "opencl", "--op", "broadcast", "-o", "out")
    assert (ended.status, ended.err.count("\n")) == (3, 1)
    assert "opencl" in ended.err
    assert "platform" in ended.err
    assert not Path("out").exists()


def test_a_backend_that_does_not_start_is_one_line(conformance: Conformance) -> None:
    ended = conformance("run", "-b", "exec:false", "--op", "broadcast")
    assert (ended.status, ended.err.count("\n")) == (3, 1)
    assert "did not start: exited with status 1" in ended.err
    assert "conformance doctor" in ended.err
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    ("backend", "said"),
    [
        ("reference,,jax", "'reference,,jax' has an empty name; write names with one comma between them"),
        ("reference,", "'reference,' has an empty name"),
        ("json:JSONDecoder", "backend 'json:JSONDecoder': json:JSONDecoder is no backend; a backend subclasses"),
        ("exec:true", "backend 'exec:true': it ended in order, with status 0, and never introduced itself"),
        ("acme:Acme", "backend 'acme:Acme': claims of broadcast: unknown feature 'dtpye'; did you mean 'dtype'?"),
    ],
)
def test_what_is_no_backend_is_one_line(backend: str, said: str, conformance: Conformance) -> None:
    Path("acme.py").write_text(
        "from conformance.backends.base import Backend\n"
        "class Acme(Backend):\n    claims = {'broadcast': {'dtpye': ['float32']}}\n"
    )
    ended = conformance("run", "-b", backend, "--op", "broadcast", "-o", "out")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert said in ended.err
    assert not Path("out").exists()


def test_in_a_core_install_a_backend_that_lacks_its_extra_is_one_line_with_the_command(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(discovery, "distribution", absent)
    for backend, extra in (("opencl", "opencl"), ("opencl-reordered", "opencl"), ("opencl-pocl", "pocl")):
        ended = conformance("run", "-b", backend, "--op", "broadcast", "-o", "out")
        assert (ended.status, ended.err.count("\n")) == (2, 1)
        assert "pyopencl" in ended.err
        assert f"run: pip install 'mesh-conformance[{extra}]'" in ended.err
        assert not Path("out").exists()
    table = conformance("backends", "--json").out
    assert table.count("pip install 'mesh-conformance[opencl]'") == 5
    assert table.count("pip install 'mesh-conformance[pocl]'") == 3


def test_an_output_folder_that_cannot_be_made_is_one_line(conformance: Conformance) -> None:
    Path("taken").write_text("mine")
    ended = conformance("run", *ONE, "-o", "taken/out")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "cannot write into taken/out: Not a directory; choose another folder with -o" in ended.err
    assert Path("taken").read_text() == "mine"


def test_a_folder_that_is_gone_is_one_line(conformance: Conformance, tmp_path: Path) -> None:
    (tmp_path / "gone").mkdir()
    os.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    ended = conformance("backends")
    assert ended.status == 2
    assert ended.err.startswith("conformance: the current folder is no longer there")


def test_an_earlier_run_is_not_overwritten(conformance: Conformance, earlier: Conformance) -> None:
    assert earlier(*ONE).status == 0
    before = Path("out/run.jsonl").read_bytes()
    ended = conformance("run", *ONE, "-o", "out")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "exists: choose another folder with -o, or go on with --resume" in ended.err
    assert Path("out/run.jsonl").read_bytes() == before


def test_another_run_is_not_resumed(conformance: Conformance, earlier: Conformance) -> None:
    assert earlier(*ONE).status == 0
    before = Path("out/run.jsonl").read_bytes()
    ended = conformance("run", *ONE, "--seed", 1, "-o", "out", "--resume")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "another run: the log has seed 0 and this run 1; give --seed 0" in ended.err
    assert Path("out/run.jsonl").read_bytes() == before


def test_a_strangers_file_is_not_overwritten_by_a_report(conformance: Conformance, earlier: Conformance) -> None:
    assert earlier(*ONE).status == 0
    Path("mine").mkdir()
    Path("mine/index.html").write_text("my page")
    ended = conformance("report", "out", "-o", "mine")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "was not written by a report" in ended.err
    assert [path.name for path in Path("mine").iterdir()] == ["index.html"]


def test_a_truncated_log_is_reported_as_incomplete(conformance: Conformance, earlier: Conformance) -> None:
    assert earlier(*ONE).status == 0
    log = Path("out/run.jsonl")
    log.write_bytes(log.read_bytes()[:-200])
    ended = conformance("report", "out")
    assert ended.status == 3
    assert "the log has no footer" in ended.out


def test_a_log_that_is_none_is_one_line_with_its_place(conformance: Conformance) -> None:
    Path("out").mkdir()
    Path("out/run.jsonl").write_text("this is\nno log\n")
    ended = conformance("report", "out")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "out/run.jsonl:1: not a record of a run log" in ended.err


def damaged(document: dict[str, object], how: str) -> object:
    program = document["program"]
    inputs = document["inputs"]
    assert isinstance(program, dict)
    assert isinstance(inputs, dict)
    block = inputs["x"]["blocks"][0]
    if how == "wrong hash":
        document["id"] = "broadcast/int32-3/000000000000"
    elif how == "huge shape":
        block["shape"] = [2**40, 2**40]
    elif how == "NaN for a size":
        program["mesh"] = [["i", float("nan")]]
    elif how == "NaN in a shape":
        block["shape"] = [float("nan")]
    elif how == "path":
        del block["bits"]
        block["file"] = "../../secret.safetensors"
    elif how == "unknown operation":
        program["steps"][0]["op"] = "teleport"
    elif how == "wrong attribute":
        program["steps"][0]["attrs"] = {"root": "zero"}
    elif how == "huge world":
        program["mesh"] = [["i", 10**9]]
    elif how == "surplus":
        document["extra"] = 1
    return document


@pytest.mark.parametrize(
    "how",
    [
        "wrong hash", "huge shape", "NaN for a size", "NaN in a shape", "path", "unknown operation", "wrong attribute",
        "huge world", "surplus",
    ],
)  # fmt: skip
def test_a_malformed_or_hostile_case_file_is_one_line(conformance: Conformance, case_file: Path, how: str) -> None:
    case_file.write_text(json.dumps(damaged(json.loads(case_file.read_text()), how)))
    ended = conformance("replay", case_file, "-b", "reference")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert f"case file {case_file}: " in ended.err
    assert not ended.out


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 100_000, b"\xff\xfe", b"null", b"{}"])
def test_a_file_that_is_no_case_is_one_line(conformance: Conformance, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "case.json").write_bytes(content)
    ended = conformance("replay", "case.json", "-b", "reference")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "case file case.json: " in ended.err


@pytest.mark.parametrize("damage", [b"\xff\xfe{}", b"[" * 100_000 + b"]" * 100_000], ids=["not UTF-8", "deep"])
def test_a_damaged_file_is_one_line_with_its_name(
    conformance: Conformance, earlier: Conformance, damage: bytes
) -> None:
    assert earlier(*ONE).status == 0
    Path("bad.json").write_bytes(damage)
    Path("expected").mkdir()
    for option, file in (("--qualification", "bad.json"), ("--expectations", "expected/explanations.json")):
        Path(file).write_bytes(damage)
        ended = conformance("report", "out", "-o", "again", option, "expected" if "expected" in file else file)
        assert (ended.status, ended.err.count("\n")) == (2, 1), ended
        assert file in ended.err
    first, *rest = Path("out/run.jsonl").read_bytes().splitlines(keepends=True)
    Path("out/run.jsonl").write_bytes(first + damage + b"\n" + b"".join(rest))
    ended = conformance("report", "out")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert "out/run.jsonl:2: not a record of a run log" in ended.err


def test_what_is_no_regular_file_is_not_waited_for(conformance: Conformance, earlier: Conformance) -> None:
    assert earlier(*ONE).status == 0
    os.mkfifo("pipe")
    ended = conformance("report", "out", "-o", "again", "--qualification", "pipe")
    assert (ended.status, ended.err) == (2, "conformance: pipe is no regular file; name a file of JSON\n")


NARROW = """
import resource, sys
from conformance.cli import main
from conformance.cli.commands import report
pages = int(open("/proc/self/statm").read().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (2 << 20),) * 2)
sys.exit(main(["report", "."]))
"""


def test_a_process_that_may_take_no_more_memory_says_so_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "run.jsonl").write_bytes(b" " * (15 << 20))
    ended = subprocess.run([sys.executable, "-c", NARROW], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr.count("\n")) == (3, 1), ended.stderr
    assert "may take no more memory" in ended.stderr


@pytest.mark.parametrize(("folder", "says"), [("", "names nothing"), (os.fsdecode(b"\xff"), "is not UTF-8")])
def test_a_folder_that_has_no_name_to_write_is_refused_before_the_run(
    conformance: Conformance, folder: str, says: str
) -> None:
    ended = conformance("run", *ONE, "-o", folder)
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert says in ended.err
    assert not list(Path().iterdir())


def test_an_option_given_twice_is_joined(conformance: Conformance, wrong: str) -> None:
    words = ("-b", "reference", "-b", f"{wrong},reference", "--op", "broadcast", "--op", "barrier")
    ended = conformance(
        "run", *words, "--suite", "collectives", "--examples", 20, "-o", "out", "--in-process", "--json"
    )
    assert list(json.loads(ended.out)["backends"]) == ["reference", wrong]
    header = json.loads(Path("out/run.jsonl").read_text().splitlines()[0])
    assert header["ops"] == ["broadcast", "barrier"]


def test_a_number_model_that_is_none_is_one_line_and_status_2(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    (Path() / "acme.py").write_text(
        "from conformance.backends.reference import Reference\n"
        "class Acme(Reference):\n"
        "    number_model = {'mean': 'reciprocl'}\n"
    )
    monkeypatch.syspath_prepend(Path())
    for how in ((), ("--in-process",)):
        ended = conformance("run", "-b", "acme:Acme", "--op", "broadcast", "-o", "out", *how)
        assert (ended.status, ended.err.count("\n")) == (2, 1)
        assert "backend 'acme:Acme': number model: unknown word of mean 'reciprocl'; did you mean 'reci" in ended.err
        assert not Path("out").exists()


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Step(op="broadcst", inputs=("x",), outputs=("y",), axes=("i",)), "there is no 'broadcst'"),
        (Step(op="broadcast", inputs=("x",), outputs=("y",), axes=("i",), attrs={"rot": 0}), "got ['rot']"),
        (Step(op="broadcast", inputs=("x",), outputs=("y",), axes=("i",), attrs={"root": "a"}), "Expected `int`"),
        (Step(op="broadcast", inputs=(), outputs=("y",), axes=("i",), attrs={"root": 0}), "takes 1 values a result"),
    ],
)
def test_a_step_that_does_not_fit_its_operation_is_one_line(step: Step, said: str, conformance: Conformance) -> None:
    tensors = Operand(blocks=(Tensor(dtype="int8", shape=(), bits="01"),) * 2, layouts=("contiguous",) * 2)
    program = Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",))
    save(Case(program=program, inputs={"x": tensors}), Path("case.json"))
    ended = conformance("replay", "case.json", "-b", "reference")
    assert (ended.status, ended.err.count("\n")) == (2, 1)
    assert said in ended.err


def test_a_clause_that_cites_no_source_ends_before_the_run(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delitem(SOURCES, "mpi.barrier")
    status, _, err = conformance("run", *ONE, "-o", "out")
    assert (status, err.count("\n")) == (2, 1)
    assert "barrier.C" in err
    assert "unknown source 'mpi.barrier'; the sources are jax.psum, " in err
    assert not (tmp_path / "out").exists()


def test_a_row_that_contradicts_its_function_is_one_line(
    conformance: Conformance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mean(blocks: list[object], *, groups: object) -> list[object]:
        raise NotImplementedError

    monkeypatch.setattr(opening, "operations", lambda: described(mean, "exchange", readers="sources"))
    status, _, err = conformance("run", *ONE)
    assert (status, err.count("\n")) == (2, 1)
    assert "the row of mean contradicts its reference function: its row speaks of sources, and it has no attr" in err
