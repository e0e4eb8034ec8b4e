"""A history keeps intervals, loses nothing by it, and can be made again from logs in any order."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.history.error import HistoryError
from conformance.history.outline import Outline
from conformance.history.reading import read_outline
from conformance.history.store.addition import add
from conformance.history.store.beside import ReportedVerdict, measurements, texts, verdicts
from conformance.history.store.cells import cells
from conformance.history.store.opening import written
from conformance.history.store.queries import QUERIES
from tests.history.conftest import Edit, Lines, edited, failing, header, passed, record, write

ADD = [sys.executable, "-m", "conformance", "history", "add"]
OUT = record({"outcome": "unsupported", "clauses": {}, "detail": "claims"})
SEQUENCE: list[tuple[Edit, ...]] = [
    (),
    (failing(),),
    (failing(),),
    (),
    (record(None),),
    (),
    (OUT,),
    (failing(detail="other"),),
]


def logs(base: Lines, folder: Path) -> list[Path]:
    """Return runs of one plan, day after day."""
    days = [
        edited(base, *edits, header(started=f"2026-11-{day:02}T00:00:00+00:00"))
        for day, edits in enumerate(SEQUENCE, 1)
    ]
    return [write(lines, folder / str(day)) for day, lines in enumerate(days, 1)]


def history(runs: list[Path], file: Path) -> Path:
    for run in runs:
        with written(file) as connection:
            add(connection, read_outline(run), incomplete=True)
    return file


def verdict(run: Outline) -> ReportedVerdict:
    return verdicts(run, list(cells(run.seen)))["it"]


def told(file: Path, sql: str) -> list[tuple[object, ...]]:
    with sqlite3.connect(file) as connection:
        return connection.execute(sql).fetchall()


def rows(file: Path) -> list[tuple[object, ...]]:
    return sorted(told(file, "SELECT name, backend, outcome, clause, first_run, last_run FROM history_of_cases"))


def test_a_case_has_an_interval_for_every_stretch_in_which_it_came_out_alike(base: Lines, tmp_path: Path) -> None:
    file = history(logs(base, tmp_path), tmp_path / "h.sqlite")
    mine = [(row[2], str(row[4])[8:10], str(row[5])[8:10]) for row in rows(file) if row[0] == passed(base)]
    assert sorted(mine, key=lambda one: one[1]) == [
        ("passed", "01", "01"),
        ("failed", "02", "03"),
        ("passed", "04", "04"),
        ("passed", "06", "06"),
        ("unsupported", "07", "07"),
        ("failed", "08", "08"),
    ]
    others = [row for row in rows(file) if row[0] != passed(base)]
    assert len(others) == len({row[0] for row in others})


def test_every_run_can_be_read_off_again(base: Lines, tmp_path: Path) -> None:
    runs = logs(base, tmp_path)
    file = history(runs, tmp_path / "h.sqlite")
    for run in map(read_outline, runs):
        day = run.head.started
        there = told(
            file,
            f"SELECT backend, name, outcome FROM history_of_cases WHERE first_run <= '{day}' AND last_run >= '{day}'",
        )
        assert sorted(there) == sorted((one.backend, one.case, one.outcome) for one in run.seen.values())


def test_the_order_in_which_runs_are_added_says_nothing(base: Lines, tmp_path: Path) -> None:
    runs = logs(base, tmp_path)
    right = rows(history(runs, tmp_path / "h.sqlite"))
    for number, order in enumerate(list(permutations(range(len(runs))))[:: 40320 // 12]):
        assert rows(history([runs[at] for at in order], tmp_path / f"{number}.sqlite")) == right


def test_a_run_given_twice_changes_nothing(base: Lines, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, file = write(base, tmp_path / "a"), str(tmp_path / "h.sqlite")
    assert main(["history", "add", str(run), str(run), "--history", file]) == 0
    before = rows(tmp_path / "h.sqlite")
    assert main(["history", "add", str(run), "--history", file]) == 0
    assert rows(tmp_path / "h.sqlite") == before
    assert capsys.readouterr().out.splitlines() == [
        f"{run}: {word}" for word in ("added", "already there", "already there")
    ]


def test_many_add_at_once(base: Lines, tmp_path: Path) -> None:
    runs, file = logs(base, tmp_path)[:4], tmp_path / "h.sqlite"

    def added(run: Path) -> int:
        return subprocess.run([*ADD, str(run), "--history", str(file)], check=False, capture_output=True).returncode

    with ThreadPoolExecutor() as pool:
        assert list(pool.map(added, runs)) == [0, 0, 0, 0]
    assert rows(file) == rows(history(runs, tmp_path / "one-by-one.sqlite"))


def test_a_run_says_where_it_was_made_of_what(base: Lines, tmp_path: Path) -> None:
    file = history([write(base, tmp_path / "a")], tmp_path / "h.sqlite")
    ((backend, framework, seed, machine, claims),) = told(
        file, "SELECT backend, framework, seed, machine, claims FROM table_of_runs"
    )
    assert (backend, seed, len(str(claims))) == ("it", 0, 16)
    assert "numpy" in str(framework)
    assert "cores" in str(machine)


def test_the_report_beside_a_log_says_the_verdict(base: Lines, tmp_path: Path) -> None:
    run = write(base, tmp_path / "a")
    must = {"held": 9, "broken": 1, "shadowed": 0, "unsupported": 2, "not_run": 0, "known": 0}
    report = {
        "runs": [{"started": base[0]["started"]}],
        "backends": [{"name": "it", "verdict": "conformant", "title": "Conformant", "must": must}],
    }
    (run / "report.json").write_text(json.dumps(report))
    file = history([run], tmp_path / "h.sqlite")
    assert told(file, "SELECT verdict, must_held, must_total FROM judged") == [("conformant", 9, 12)]


def test_bad_input_is_one_line_and_changes_nothing(
    base: Lines, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one = write(base, tmp_path / "one")
    other = write(edited(base, failing()), tmp_path / "other")
    killed = write([*base[:-1]], tmp_path / "killed")
    file = history([one], tmp_path / "h.sqlite")
    (tmp_path / "text.sqlite").write_text("what somebody wrote")
    sqlite3.connect(tmp_path / "foreign.sqlite").execute("CREATE TABLE theirs (x)").connection.close()
    (tmp_path / "newer.sqlite").write_bytes(file.read_bytes())
    sqlite3.connect(tmp_path / "newer.sqlite").execute("PRAGMA user_version = 99").connection.close()
    for arguments, status, says in [
        ((str(other), "--history", str(file)), 2, "with another log"),
        ((str(killed), "--history", str(tmp_path / "new.sqlite")), 3, "never ended"),
        (("nowhere", "--history", str(file)), 2, "holds no run.jsonl"),
        ((str(one), "--history", "text.sqlite"), 2, "is no history"),
        ((str(one), "--history", "foreign.sqlite"), 2, "of something else"),
        ((str(one), "--history", "newer.sqlite"), 2, "form 99"),
        ((str(one), "--history", str(tmp_path)), 2, "is no history"),
    ]:
        before = {path: path.read_bytes() for path in tmp_path.glob("*.sqlite")}
        found, lines = main(["history", "add", *arguments]), capsys.readouterr().err.splitlines()
        assert (found, len(lines), says in lines[0]) == (status, 1, True), (arguments, lines)
        assert all(path.read_bytes() == content for path, content in before.items())


@pytest.mark.parametrize("name", QUERIES)
def test_every_query_answers(name: str, base: Lines, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = history(logs(base, tmp_path), tmp_path / "h.sqlite")
    given = [f"name={passed(base)}"] if name == "case" else ["backend=it", "op=broadcast"] if name == "speed" else []
    assert main(["history", "show", name, *given, "--history", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, list)
    assert {"regressions": 2, "case": 6, "runs": len(SEQUENCE), "conforms": 1}.get(name, len(found)) == len(found)


def test_a_query_that_asks_for_a_name_says_so(base: Lines, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = history(logs(base, tmp_path), tmp_path / "h.sqlite")
    assert main(["history", "show", "case", "--history", str(file)]) == 2
    assert "asks for names: name; write NAME=VALUE" in capsys.readouterr().err
    assert main(["history", "show", "cases", "--history", str(file)]) == 2


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("datasette") is None, reason="datasette is not installed")
def test_datasette_serves_it_as_it_is(base: Lines, tmp_path: Path) -> None:
    file = history(logs(base, tmp_path), tmp_path / "history.sqlite")
    queries = subprocess.run(
        [*ADD[:-1], "metadata", "--history", str(file)], check=True, capture_output=True, text=True
    )
    (tmp_path / "metadata.json").write_text(queries.stdout)
    ask = [
        "datasette",
        str(file),
        "-m",
        str(tmp_path / "metadata.json"),
        "--get",
        "/history/regressions.json?_shape=array",
    ]
    assert len(json.loads(subprocess.run(ask, check=True, capture_output=True, text=True).stdout)) == 2


def test_a_report_beside_a_log_may_not_say_better_of_a_backend_than_its_records(base: Lines, tmp_path: Path) -> None:
    folder = write(edited(base, failing()), tmp_path / "run")
    started = json.loads((folder / "run.jsonl").read_text().splitlines()[0])["started"]
    said = {"name": "it", "verdict": "conformant", "title": "Conformant", "must": {"held": 47}}
    (folder / "report.json").write_text(json.dumps({"backends": [said], "runs": [{"started": started}]}))
    assert verdict(read_outline(folder)).verdict == "not_conformant"


def test_no_link_out_of_a_run_and_no_pipe_beside_it_is_read(base: Lines, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("mine")
    way = {"type": "failure", "backend": "it", "op": "broadcast", "clause": "collective.C2", "outcome": "failed"}
    lines = edited(base, failing())
    folder = write([*lines[:-1], {**way, "case": "x", "file": "cases/x.json"}, lines[-1]], tmp_path / "run")
    (folder / "cases").mkdir()
    (folder / "cases" / "x.json").symlink_to(tmp_path / "secret")
    for name in ("report.json", "bench.json"):
        os.mkfifo(folder / name)
    found = read_outline(folder)
    assert (list(texts(found)), list(measurements(found))) == ([], [])
    assert verdict(found).verdict == "not_conformant"


def test_a_compressed_log_without_an_end_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.history.reading.LONGEST", 1 << 20)
    (tmp_path / "run.jsonl.gz").write_bytes(gzip.compress(bytes(2 << 20)))
    with pytest.raises(HistoryError, match="has more than 1 MiB, unpacked where it is compressed"):
        read_outline(tmp_path)


def test_a_history_of_before_goes_on_with_its_indexes(base: Lines, tmp_path: Path) -> None:
    runs = logs(base, tmp_path)
    file = history(runs[:3], tmp_path / "history.sqlite")
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE INDEX intervals_last ON intervals (series, last_run)")
    assert rows(history(runs, file)) == rows(history(runs, tmp_path / "another.sqlite"))
