"""The file of known failures: what is wrong in it is told with its line, and its published schema is in step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from conformance.cases.case import case_id
from conformance.cases.case_error import CaseError
from conformance.cases.codec import save
from conformance.cases.document import check_keys
from conformance.cases.program.work import program_work
from conformance.cases.schemas import FOLDER, written
from conformance.runner.known.file import KnownError, read_known, write_known
from conformance.runner.log.schemas import known_schema
from conformance.runner.records.known import Flaky
from tests.runner.conftest import broadcast_of
from tests.runner.known.known_broadcast import CASE, entry

VALIDATOR = jsonschema.Draft202012Validator(known_schema())
FILE = f"cases/{case_id(CASE).replace('/', '_')}.json"


@pytest.fixture
def known(tmp_path: Path) -> Path:
    """Return a sound file of one entry, a field a line from line 3, and its case."""
    write_known(tmp_path / "known.json", [entry(backend="reference", flaky=Flaky(failed=1, of=4))], [CASE])
    return tmp_path / "known.json"


def test_what_is_written_is_read_again(known: Path) -> None:
    (one,) = read_known(known)
    assert one.entry == entry(backend="reference", flaky=Flaky(failed=1, of=4))
    assert one.trial.case == CASE
    assert (one.where, one.expiry_where) == ("known.json:2", "known.json:9")
    VALIDATOR.validate(json.loads(known.read_text()))


def test_the_cases_of_a_file_ask_for_no_more_together_than_one_may(
    known: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = json.loads(known.read_text())
    known.write_text(json.dumps([{**said[0], "backend": name} for name in ("reference", "opencl", "jax")]))
    steps = sum(steps for _, steps in program_work(CASE))
    monkeypatch.setenv("CONFORMANCE_MOST_WORK", str(3 * steps))
    assert len(read_known(known)) == 3
    monkeypatch.setenv("CONFORMANCE_MOST_WORK", str(3 * steps - 1))
    with pytest.raises(KnownError, match=r"known.json:1: .*CONFORMANCE_MOST_WORK=STEPS"):
        read_known(known)
    known.write_text(json.dumps(said))
    assert len(read_known(known)) == 1


def test_a_file_has_so_many_entries(known: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = json.loads(known.read_text())
    known.write_text(json.dumps([{**said[0], "backend": name} for name in ("reference", "opencl", "jax")]))
    monkeypatch.setattr("conformance.runner.known.file.MOST_ENTRIES", 2)
    with pytest.raises(KnownError, match="more than 2 entries"):
        read_known(known)


def test_a_key_that_is_twice_among_many_is_found_at_once(known: Path) -> None:
    many = ",".join(f'"{number}":0' for number in range(200_000))
    known.write_text(f'[{{{many},"199999":1}}]')
    with pytest.raises(KnownError, match="an entry has '199999' twice"):
        read_known(known)
    with pytest.raises(CaseError, match="it has the key '199999' twice"):
        check_keys(f'{{{many},"199999":1}}'.encode())


def test_the_known_schema_is_current() -> None:
    text = (FOLDER / "known.schema.json").read_text()
    assert text == written(known_schema()), "run python -m conformance.runner.log.schemas"
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


MALFORMED = [
    ('"outcome": "failed"', '"outcome": "passed"', 6, "outcome should be one of failed, errored, crashed"),
    ('"expiry": "2999-12-31"', '"expiry": "soon"', 9, "expiry should be the last day of the entry, such as 2027-01-31"),
    ('"issue": "https', '"issue": "javascript', 7, "issue should be an address that begins with https://"),
    ('"owner": "Ann"', '"owner": " "', 8, "owner should be who answers for it"),
    ('"owner": "Ann"', '"ownr": "Ann"', 8, "unknown field `ownr`; the fields are case, backend, clause, outcome"),
    ('    "owner": "Ann",\n', "", 2, "missing required field `owner`; owner should be who answers for it"),
    ('"failed": 1', '"failed": 0', 10, 'left out, or {"failed": N, "of": M} with 0 < N < M'),
    ('"case": "broadcast', '"case": "../broadcast', 3, "case should be the id that a log and the case file have"),
]
WORDS = [
    ('"clause": "broadcast.C1"', '"clause": "broadcast.C9"', 5, "unknown clause 'broadcast.C9': of this case speak"),
    ('"clause": "broadcast.C1"', '"clause": "permute.C1"', 5, "unknown clause 'permute.C1': of this case speak"),
    ('"backend": "reference"', '"backend": "referenz"', 4, "unknown backend 'referenz'; installed are"),
    ('"backend": "reference"', '"backend": "no.such:Thing"', 4, "no module 'no'"),
    ('"failed": 1', '"failed": 4', 10, "4 of 4 is no flake: it must have passed at least once"),
    (case_id(CASE), "broadcast/uint8-2/0123456789ab", 3, "unknown case broadcast/uint8-2/0123456789ab: there is no"),
    ("[\n", "{\n", 1, "it must be a list of entries"),
    ('"reference",', '"reference"', 5, "it is not JSON: Expecting ',' delimiter"),
    ("  }\n]", "  },\n]", 12, "it is not JSON: a comma before the closing bracket"),
    ("\n]", "\n", 11, "it is not JSON: a comma or the closing bracket is missing"),
    ("\n]", "\n]\n[]", 13, "it is not JSON: there is more after the closing bracket"),
    ('"owner": "Ann",', '"owner": "Ann", "owner": "Bob",', 2, "an entry has 'owner' twice"),
]


@pytest.mark.parametrize(
    ("old", "new", "line", "says"), [*MALFORMED, *WORDS], ids=[row[1] for row in MALFORMED + WORDS]
)
def test_what_is_wrong_is_told_with_its_line_and_what_would_be_right(
    known: Path, old: str, new: str, line: int, says: str
) -> None:
    text = known.read_text()
    assert old in text
    known.write_text(text.replace(old, new, 1))
    with pytest.raises(KnownError) as told:
        read_known(known)
    assert str(told.value).startswith(f"{known}:{line}: ")
    assert says in str(told.value)


@pytest.mark.parametrize(("old", "new"), [row[:2] for row in MALFORMED], ids=[row[1] for row in MALFORMED])
def test_a_malformed_entry_is_malformed_by_the_schema_too(known: Path, old: str, new: str) -> None:
    assert not VALIDATOR.is_valid(json.loads(known.read_text().replace(old, new, 1)))


def test_a_second_entry_for_a_case_and_backend_is_told_with_the_line_of_both(known: Path) -> None:
    one = entry(backend="reference")
    write_known(known, [one, entry(backend="reference", clause="collective.C1")], [CASE])
    with pytest.raises(
        KnownError, match=r"known.json:12: .* is listed already, at known.json:2; remove one of the two"
    ):
        read_known(known)


def changed(folder: Path) -> None:
    save(broadcast_of(2, extent=1), folder / FILE)


def damaged(folder: Path) -> None:
    text = (folder / FILE).read_text()
    (folder / FILE).write_text(text.replace('"bits": "01"', '"bits": "03"'))


@pytest.mark.parametrize(("harm", "says"), [(changed, "another case than"), (damaged, "but its content has the id")])
def test_a_case_file_with_another_digest_is_an_unknown_case(
    known: Path, harm: Callable[[Path], None], says: str
) -> None:
    harm(known.parent)
    with pytest.raises(KnownError, match=rf"known.json:3: .*{says}"):
        read_known(known)


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 100_000, b"[NaN]", b"[5]", b"null"])
def test_what_is_no_list_of_entries_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "known.json").write_bytes(content)
    with pytest.raises(KnownError) as told:
        read_known(tmp_path / "known.json")
    assert "\n" not in str(told.value)


def test_no_known_failures_is_a_list_too(tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text("[]\n")
    assert read_known(tmp_path / "known.json") == ()


def test_a_file_that_is_not_there_says_what_writes_one(tmp_path: Path) -> None:
    with pytest.raises(KnownError, match="conformance known RUN -o"):
        read_known(tmp_path / "known.json")


def test_half_a_character_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "known.json").write_text('[{"\\ud800": "opencl"}]')
    with pytest.raises(KnownError, match=r"known\.json:1: a text has half a character"):
        read_known(tmp_path / "known.json")
