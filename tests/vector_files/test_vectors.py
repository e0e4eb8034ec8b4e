"""Vectors: they admit what the judge admits, have the same bytes each time, and a reader in C judges by them."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from conformance.cases.observation import Observation
from conformance.cases.schemas import FOLDER, written
from conformance.cases.tensor.tensor import from_array
from conformance.judging.verdict import judge
from conformance.runner.deck import meant
from conformance.specs import clauses_of, every_clause
from conformance.vector_files import folder as vector_folder
from conformance.vector_files.document import vectors_schema
from conformance.vector_files.error import VectorsError
from conformance.vector_files.folded_values import program_results
from conformance.vector_files.folder import check, export, files
from conformance.vector_files.rules import keeps
from conformance.vectors.deck import deck
from tests.cli.conftest import Conformance, conformance  # noqa: F401 - a fixture

CC = shutil.which("cc")
ROOT = Path(__file__).parents[2]
KIT = ROOT / "conformance" / "cli" / "skeleton" / "c"


OPS = ("all_reduce", "all_gather")
SUITES = ("aliasing", "async", "computing", "determinism", "liveness", "numerics")
"""Those that have few cases of an operation: long folds in `collectives` take most of a minute."""


@pytest.fixture(scope="module", autouse=True)
def small_shards() -> Iterator[None]:
    """Let the folder have three shards."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(vector_folder, "PER_SHARD", 30)
        yield


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("vectors") / "all"
    export(folder, OPS, SUITES)
    assert len([*folder.glob("*.safetensors")]) == 3
    return folder


@pytest.fixture(scope="module")
def made_again(vectors: Path) -> list[tuple[str, bytes]]:
    """Return the files of the same folder, made once more for all tests that hold one against them."""
    return [*files(OPS, SUITES)]


@pytest.fixture
def copied(vectors: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(vectors, tmp_path / "copied"))


def test_the_schema_is_current() -> None:
    text = (FOLDER / "vectors.schema.json").read_text()
    assert text == written(vectors_schema()), "run python -m conformance.vector_files.document"
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_all_documents_of_a_folder_are_valid_and_say_what_is_right_and_why(vectors: Path) -> None:
    validator = jsonschema.Draft202012Validator(json.loads((vectors / "vectors.schema.json").read_text()))
    index = json.loads((vectors / "index.json").read_text())
    validator.validate(index)
    shard = json.loads((vectors / index["shards"][0]["vectors"]).read_text())
    validator.validate(shard)
    assert {each["how"] for each in shard["vectors"]} >= {"exact", "one_of", "between", "refused"}
    assert {name for each in shard["vectors"] for name in each["clauses"]} <= index["clauses"].keys()
    assert {name for each in shard["vectors"] for name in each["catches"]} <= index["mistakes"].keys()
    assert any(each["catches"] for each in shard["vectors"])
    del shard["vectors"][0]["clauses"]
    assert not validator.is_valid(shard)


def test_a_vector_of_a_schedule_states_the_graph_and_what_its_schedules_are_held_to(tmp_path: Path) -> None:
    export(tmp_path / "all", ops=("schedule_of_graph",), suites=("schedules",))
    index = json.loads((tmp_path / "all" / "index.json").read_text())
    shard = json.loads((tmp_path / "all" / index["shards"][0]["vectors"]).read_text())
    assert {each["how"] for each in shard["vectors"]} == {"unstated"}
    assert all(each["program"]["nodes"] for each in shard["vectors"])
    assert all({"law.C1", "answer.C1"} <= set(each["clauses"]) <= index["clauses"].keys() for each in shard["vectors"])


def test_the_same_deck_gives_the_same_bytes(
    copied: Path, made_again: list[tuple[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_folder, "files", lambda ops, suites, _: {(OPS, SUITES): made_again}[ops, suites])
    assert check(copied) == ""


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["vectors-0000.json", "vectors-0000.safetensors", "index.json", "vectors.schema.json"])
def test_the_first_difference_is_named(
    copied: Path, made_again: list[tuple[str, bytes]], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(vector_folder, "files", lambda *_: made_again)
    path = copied / name
    if name == "index.json":
        path.write_text(path.read_text().replace('"text": "', '"text": "Not: ', 1))
    else:
        flipped(path)
    assert check(copied).startswith(f"{name}: byte ")


def cut(folder: Path) -> None:
    (folder / "vectors-0000.safetensors").unlink()


def foreign(folder: Path) -> None:
    (folder / "index.json").write_text('{"a": 1}')


def newer(folder: Path) -> None:
    path = folder / "index.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2', 1))


def climbing(folder: Path) -> None:
    path = folder / "index.json"
    path.write_text(path.read_text().replace("vectors-0000.json", "../vectors-0000.json", 1))


def stranger(folder: Path) -> None:
    (folder / "note").write_text("")


@pytest.mark.parametrize("change", [cut, foreign, newer, climbing, stranger], ids=lambda change: change.__name__)
def test_a_folder_that_is_cut_or_foreign_ends_with_2(
    conformance: Conformance,  # noqa: F811
    copied: Path,
    change: object,
) -> None:
    assert callable(change)
    change(copied)
    ended = conformance("vectors", "check", copied)
    assert (ended.status, ended.err.count("\n")) == (2, 1), ended


def test_an_export_overwrites_nothing_and_names_what_is_unknown(
    conformance: Conformance,  # noqa: F811
    copied: Path,
) -> None:
    with pytest.raises(VectorsError, match="is not empty"):
        export(copied)
    assert conformance("vectors", "export", "new", "--op", "al_reduce").status == 2
    assert conformance("vectors", "export", "new", "--op", "barrier", "--suite", "graphs").status == 2
    assert not Path("new").exists()


MUSTS = {name for name, clause in every_clause().items() if clause.requirement == "must"}


def changes(array: np.ndarray, random: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield arrays with one element changed: to its neighbours, its negative, a NaN, and far off."""
    at = int(random.integers(array.size))
    for way in (
        lambda part: np.nextafter(part, np.array(np.inf, part.dtype)),
        lambda part: -part,
        lambda part: np.array(np.nan, part.dtype),
        lambda part: (part * np.array(1.5, part.dtype)).astype(part.dtype),
    ):
        changed = array.copy()
        flat = changed.reshape(-1)
        with np.errstate(all="ignore"):
            if array.dtype.kind in "fV":
                flat[at] = way(flat[at])
            elif array.dtype.kind == "c":
                flat.view(flat.real.dtype)[2 * at] = way(flat.real[at])
            elif array.dtype.kind in "iu":
                flat[at] ^= 1
        yield changed


@pytest.mark.parametrize(
    "suites", [("numerics", "determinism"), pytest.param(("collectives", "async"), marks=pytest.mark.slow)]
)
def test_a_vector_refuses_nothing_that_the_judge_admits_and_admits_little_more(suites: tuple[str, ...]) -> None:
    random, alike, laxer = np.random.default_rng(5), 0, 0
    for frozen in [one for one in deck().cases if one.suite in suites and one.form == "program"]:
        subject = meant(frozen).subject
        if subject.rejected is not None or subject.case.faults:
            continue
        right = program_results(subject)
        name = next((name for name, row in subject.expected.items() if row[0] is not None and row[0].size), None)
        for changed in changes(np.array(subject.expected[name][0]), random) if name else ():
            results = {
                each: tuple(None if block is None else from_array(np.asarray(block)) for block in row)
                for each, row in subject.expected.items()
            }
            results[name] = (from_array(changed), *results[name][1:])
            seen = Observation(results=results, errors=(None,) * subject.case.program.world, touched=())
            held = judge(subject, seen, clauses_of).clauses
            admitted = not any(what == "broken" and clause in MUSTS for clause, what in held.items())
            kept = keeps(right[name][0], changed)
            assert kept or not admitted, (frozen.name, changed)
            alike, laxer = alike + (kept == admitted), laxer + (kept and not admitted)
    assert alike > 150
    assert laxer < alike / 20


@pytest.mark.skipif(CC is None, reason="needs a C compiler named cc")
def test_a_program_in_c_judges_a_library_by_vectors_alone(vectors: Path, tmp_path: Path) -> None:
    source = ROOT / "examples" / "c" / "vector_check.c"
    assert len(source.read_text().splitlines()) <= 300
    export(tmp_path / "moved", ops=("all_gather",), suites=("collectives",))
    ended = []
    for name, options, folder in (
        ("right", (), vectors),
        ("right", (), tmp_path / "moved"),
        ("wrong", ("-DMISTAKE",), vectors),
    ):
        words = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", KIT, "-o", tmp_path / name]
        subprocess.run([str(CC), *options, *words, source], check=True)
        ended.append(subprocess.run([tmp_path / name, folder], capture_output=True, text=True, check=False))
    assert [each.returncode for each in ended] == [0, 0, 1], ended
    assert all(" 0 wrong" in each.stdout for each in ended[:2])
    assert sum(int(each.stdout.split()[0]) for each in ended[:2]) > 20
    assert "is wrong\n  about all_reduce.C1" in ended[2].stdout
