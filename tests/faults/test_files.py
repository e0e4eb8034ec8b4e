from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conformance.cases.codec import save
from conformance.cases.graph.case import GraphCase, Round
from conformance.cases.graph.graph import Graph, Node
from conformance.cases.program.program import Axis
from conformance.cases.sharded.case import ShardedCase
from conformance.cases.sharded.placement import Placement, Split
from conformance.cases.tensor.tensor import from_array
from conformance.cli import main
from conformance.runner.dialects import dialects, save_case
from conformance.runner.draws import numbered
from conformance.runner.smoke import example_case
from conformance.specs import OPS
from tests.faults import command_lines, introductions
from tests.faults.fault import Fault
from tests.faults.files import TABLES, WORK, edited

ROOT = Path(__file__).parents[2]
CASE = example_case("broadcast", OPS["broadcast"].examples[0])
RUN = ["run", "-b", "reference", "--op", "broadcast", "--suite", "collectives", "--examples", "5", "--in-process"]
ENTRY = {
    "case": "", "backend": "reference", "clause": "broadcast.C1", "outcome": "failed",
    "issue": "https://a.example/7", "owner": "Ann", "expiry": "2999-12-31",
}  # fmt: skip
EXPLANATION = {
    "backends": ["reference"],
    "causes": ["wrong"],
    "sentence": "So.",
    "owner": "Ann",
    "expiry": "2999-12-31",
}


def drawn(dialect: str, suite: str) -> Any:
    (domain, *_) = dialects()[dialect].suites[suite].domains.values()
    return next(case for case in (numbered(domain, 0, number)[0] for number in range(50)) if fit(case))


def fit(case: Any) -> bool:
    """Return whether a case has what the table changes: an operation as its last node, or a step."""
    graph, program = getattr(case, "graph", None), getattr(case, "program", None)
    return graph.nodes[-1].op == "alu" if graph is not None else bool(program is not None and program.steps)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def allowed_work(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow next to no work where that is the fault."""
    if WORK in request.node.callspec.params["fault"].data:
        monkeypatch.setenv("CONFORMANCE_MOST_WORK", "1")


def ended(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    status = main(list(words))
    said = capsys.readouterr()
    return status, said.out, said.err


def one_line(seen: tuple[int, str, str], fault: Fault, status: int = 2) -> None:
    says = fault.data[-1]
    assert (seen[0], seen[2].count("\n")) == (status, 1), (fault.done, seen)
    assert seen[2].startswith("conformance: ")
    assert len(seen[2]) < 2100
    assert says in seen[2], (fault.done, seen)


def table(name: str) -> Any:
    return pytest.mark.parametrize("fault", TABLES[name].faults, ids=[fault.done for fault in TABLES[name].faults])


def replayed(folder: Path, case: Any, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    save_case(case, folder / "case.json")
    (folder / "case.json").write_bytes(edited(fault.data[0], json.loads((folder / "case.json").read_text())))
    seen = ended(capsys, "replay", "case.json", "-b", "reference", "--in-process")
    one_line(seen, fault)
    assert "case.json: " in seen[2]
    assert [path.name for path in folder.iterdir()] == ["case.json"]


@table("case")
def test_a_case_file(folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    replayed(folder, CASE, fault, capsys)


@table("graph")
def test_a_graph_case(folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    replayed(folder, drawn("graph", "graphs"), fault, capsys)


@table("typed")
def test_a_typed_case(folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    replayed(folder, drawn("types", "types"), fault, capsys)


@table("sharded")
def test_a_sharded_case(folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    replayed(folder, sharded(), fault, capsys)


def sharded() -> ShardedCase:
    """Return the copy of a buffer whose halves are on two devices."""
    rows = Placement(splits=(Split(axis=0, along=("i",), cuts=(0, 2, 4)),))
    shape: dict[str, Any] = {"shape": (4,), "dtype": "float32", "device": "d0"}
    nodes = (Node(id="a", op="buf", arg="a", **shape), Node(id="b", op="contig", of=("a",), **shape))
    graph = Graph(nodes=nodes, results=("b",))
    data = from_array(np.zeros(4, np.float32))
    of = GraphCase(graph=graph, buffers={"a": data}, rounds=(Round(until=2, asked=("b",)),))
    return ShardedCase(mesh=(Axis("i", 2),), devices=(0, 1), of=of, homes={"a": rows})


@table("schedule")
def test_a_schedule(folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    shown = re.search(r"```json\n(.*?)```", (ROOT / "docs" / "schedules.md").read_text(), re.DOTALL)
    assert shown is not None
    (folder / "schedule.json").write_bytes(edited(fault.data[0], json.loads(shown.group(1))))
    seen = ended(capsys, "schedule", "schedule.json")
    one_line(seen, fault)
    assert "schedule.json: " in seen[2]


@table("known")
def test_known_failures(folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "cases").mkdir()
    from conformance.cases.case import case_id
    from conformance.runner.records.record import case_file

    save(CASE, folder / case_file(case_id(CASE)))
    (folder / "known.json").write_bytes(edited(fault.data[0], [ENTRY | {"case": case_id(CASE)}]))
    one_line(ended(capsys, *RUN, "--known", "known.json", "-o", "out"), fault)
    assert not (folder / "out").exists()


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("run")
    main([*RUN, "-o", str(folder / "out"), "--json"])
    return (folder / "out" / "run.jsonl").read_bytes()


@table("explanations")
def test_explanations(folder: Path, fault: Fault, log: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("out", "expected"):
        (folder / name).mkdir()
    (folder / "out" / "run.jsonl").write_bytes(log)
    (folder / "expected" / "explanations.json").write_bytes(edited(fault.data[0], [dict(EXPLANATION)]))
    one_line(ended(capsys, "report", "out", "--expectations", "expected"), fault)
    assert [path.name for path in (folder / "out").iterdir()] == ["run.jsonl"]


@table("log")
def test_a_log(folder: Path, fault: Fault, log: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    how, status, says = fault.data
    (folder / "out").mkdir()
    if how is not None:
        (folder / "out" / "run.jsonl").write_bytes(b"".join(how(log.splitlines(keepends=True))))
    seen = ended(capsys, "report", "out")
    if status == 2:
        one_line(seen, fault)
        assert not (folder / "out" / "index.html").exists()
    else:
        assert seen[0] in (status, 3)
        assert says in seen[1]
        assert "<script>alert(1)" not in (folder / "out" / "index.html").read_text()


@pytest.mark.parametrize(
    "fault", command_lines.TABLE.faults, ids=[fault.data[0] for fault in command_lines.TABLE.faults]
)
def test_a_command_line(folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "taken").write_text("mine")
    one_line(ended(capsys, *fault.data[0].split()), fault)
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("taken", "mine")]


@pytest.mark.parametrize("fault", introductions.TABLE.faults, ids=[fault.done for fault in introductions.TABLE.faults])
def test_an_introduction(folder: Path, fault: Fault, capsys: pytest.CaptureFixture[str]) -> None:
    reply, status, _ = fault.data
    says = reply if isinstance(reply, str) else json.dumps(reply)
    acts = {"": "", "exit 1": "os._exit(1)", "kill": "os.kill(os.getpid(), 9)"}.get(says)
    write = f"open(int(os.environ['CONFORMANCE_WRITE']), 'wb').write({says!r}.encode() + b'\\n'); time.sleep(60)"
    (folder / "says.py").write_text(f"import os, time\n{write if acts is None else acts}\n")
    seen = ended(capsys, "run", "-b", "exec:python3 says.py", "--op", "broadcast", "-o", "out")
    one_line(seen, fault, status)
    assert not (folder / "out").exists()
