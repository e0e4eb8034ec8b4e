"""The pages over many runs: what they say, that they are published whole, and that no text of a log can act in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cli import main
from conformance.history.site.publishing import published
from conformance.history.site.trends import Point, moved
from tests.history.conftest import Edit, Lines, edited, failing, header, passed, write

EVIL = "</script><script>alert(1)</script>\u2028\u202e"


def day(number: int) -> Edit:
    return header(started=f"2026-11-{number:02}T00:00:00+00:00")


def ways(case: str) -> Edit:
    """Add the finding that a failing case is."""
    said = {"type": "failure", "backend": "it", "op": "broadcast", "clause": "collective.C2", "requirement": "must"}
    way = {
        **said,
        "outcome": "failed",
        "case": case,
        "file": "cases/x.json",
        "detail": EVIL,
        "minimal": True,
        "explains": [],
    }
    return lambda lines: [*lines[:-1], way, lines[-1]]


@pytest.fixture
def site(base: Lines, tmp_path: Path) -> Path:
    """Return the site of three runs, of which the last two fail."""
    name = passed(base)
    worse = (failing(detail=EVIL), ways(name))
    runs = [write(edited(base, *edits, day(at)), tmp_path / str(at)) for at, edits in enumerate([(), worse, worse], 1)]
    (runs[2] / "cases").mkdir()
    (runs[2] / "cases" / "x.json").write_text('{"format": 1}')
    bench = {
        "ranks": 4,
        "rows": [{"backend": one, "op": "all_reduce", "size": 4096, "time_us": 3.0} for one in ("copy", "it")],
    }
    (runs[2] / "bench.json").write_text(json.dumps(bench))
    assert main(["site", str(tmp_path / "site"), *map(str, runs)]) == 0
    return tmp_path / "site"


def data(site: Path, name: str) -> Any:
    text = (site / "data" / f"{name}.js").read_text()
    assert text.startswith(f"conformanceData({json.dumps(name)},")
    assert "<" not in text
    return json.loads(text[len(f"conformanceData({json.dumps(name)},") : -3])


def test_the_page_says_who_conforms_and_since_when_what_fails(site: Path) -> None:
    page = (site / "index.html").read_text()
    assert "Not conformant" in page
    assert "first seen 2026-11-02" in page
    assert "last seen 2026-11-03, in 2 runs" in page
    assert 'href="#/cell/it/broadcast"' in page


def test_nothing_that_a_log_says_acts_in_a_page(site: Path) -> None:
    page = (site / "index.html").read_text()
    assert page.count("<script") == 3
    assert all("<" not in path.read_text() for path in site.glob("data/**/*.js"))
    assert "\u202e" not in page


def test_a_case_has_its_intervals_and_what_is_stored_of_it(site: Path, base: Lines) -> None:
    name = passed(base)
    shard = data(site, f"cases/{name.rpartition('/')[2][:2]}")
    intervals = shard["cases"][name][-1]
    assert [(shard["states"][one[1]][0], one[2], one[3]) for one in intervals] == [("passed", 0, 0), ("failed", 1, 2)]
    assert intervals[1][4] == EVIL
    assert data(site, f"texts/{name.rpartition('/')[2][:2]}")[name]["case"] == '{"format": 1}'


def test_programs_read_the_same_as_json_and_badges(site: Path) -> None:
    (backend,) = json.loads((site / "api" / "backends.json").read_text())
    assert (backend["verdict"], backend["cells"]["broadcast"]["must"]) == ("not_conformant", 1)
    (found,) = json.loads((site / "api" / "findings.json").read_text())
    assert (found["first"][:10], found["before"][:10], found["open"]) == ("2026-11-02", "2026-11-01", True)
    assert "not conformant" in (site / backend["badge"]).read_text()
    assert json.loads((site / "api" / "badges" / "it.json").read_text())["color"] == "red"
    assert [one["what"] for one in data(site, "trends")] == ["all_reduce, 4 KiB, 4 ranks"]


def test_a_site_made_again_is_the_same_and_takes_the_place_of_the_first(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    runs = [str(tmp_path / str(number)) for number in (3, 1, 2)]
    (site / "stale").write_text("of before")
    for folder in (site, tmp_path / "other"):
        assert main(["site", str(folder), *runs]) == 0
    one, two = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (site, tmp_path / "other")
    )
    assert one == two
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.parametrize("when", ["99999999999999", "1" * 5000, "soon", "1e9"])
def test_a_time_that_is_none_is_one_line(
    when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", when)
    assert main(["site", str(tmp_path / "site")]) == 2
    assert "it should be a whole number of seconds since 1970" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_name_that_is_no_text_is_shown_escaped(base: Lines, tmp_path: Path) -> None:
    run = write(base, tmp_path / "run\udcff")
    assert main(["site", str(tmp_path / "site"), str(run)]) == 0
    assert json.loads((tmp_path / "site" / "api" / "runs.json").read_text())[0]["folder"] == r"run\udcff"


@pytest.mark.parametrize("what", ["file", "foreign", "link"])
def test_a_folder_that_is_no_site_is_left_alone(
    what: str, base: Lines, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "site"
    if what == "file":
        folder.write_text("theirs")
    elif what == "link":
        (tmp_path / "elsewhere").mkdir()
        folder.symlink_to(tmp_path / "elsewhere")
    else:
        folder.mkdir()
        (folder / "thesis.txt").write_text("theirs")
    before = sorted(tmp_path.rglob("*"))
    assert main(["site", str(folder), str(write(base, tmp_path / "run"))]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert [path for path in sorted(tmp_path.rglob("*")) if "run" not in path.name] == before


def test_a_site_that_cannot_be_made_leaves_the_one_of_before(site: Path, tmp_path: Path) -> None:
    before = (site / "index.html").read_bytes()
    with pytest.raises(ZeroDivisionError), published(site) as fresh:
        (fresh / "index.html").write_text(str(1 // 0))
    assert (site / "index.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_where_folders_cannot_change_places_at_once_they_do_one_after_the_other(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conformance.history.site.publishing.ctypes.CDLL", lambda *_, **__: object())
    with published(site) as fresh:
        (fresh / "index.html").write_text("new")
    assert (site / "index.html").read_text() == "new"
    assert [each.name for each in site.parent.iterdir()].count("site") == 1


def test_a_history_without_runs_makes_no_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["site", str(tmp_path / "site"), "--history", str(tmp_path / "none.sqlite")]) == 2
    assert "no history" in capsys.readouterr().err
    assert not (tmp_path / "site").exists()


STEADY = [100.0, 101.0, 99.0, 100.0]


@pytest.mark.parametrize(
    ("values", "control", "found", "says"),
    [
        ([*STEADY, 130.0], [10.0, 10.1, 9.9, 10.0, 10.0], "slower", "1.30 times"),
        ([*STEADY, 70.0], [10.0, 10.1, 9.9, 10.0, 10.0], "faster", "0.70 times"),
        ([*STEADY, 103.0], [10.0, 10.1, 9.9, 10.0, 10.0], None, "within the noise"),
        ([*STEADY, 130.0], [10.0, 10.1, 9.9, 10.0, 13.0], None, "the machine is"),
        ([*STEADY, 130.0], [], None, "no control"),
        ([100.0, 100.0, 300.0], [10.0, 10.0, 10.0], None, "too few"),
        ([50.0, 150.0, 80.0, 120.0, 160.0], [10.0] * 5, None, "within the noise"),
    ],
)
def test_a_step_is_told_only_outside_the_noise_and_with_a_steady_control(
    values: list[float], control: list[float], found: str | None, says: str
) -> None:
    points, beside = ([Point(at, value) for at, value in enumerate(several)] for several in (values, control))
    told, sentence = moved(points, beside)
    assert (told, says in sentence) == (found, True), sentence


def test_a_site_needs_no_folder_of_the_runs_once_they_are_in_a_history(base: Lines, tmp_path: Path) -> None:
    run, file = write(base, tmp_path / "run"), str(tmp_path / "h.sqlite")
    assert main(["history", "add", str(run), "--history", file]) == 0
    assert main(["site", str(tmp_path / "site"), "--history", file, "--database"]) == 0
    assert (tmp_path / "site" / "history.sqlite").read_bytes()[:15] == b"SQLite format 3"
