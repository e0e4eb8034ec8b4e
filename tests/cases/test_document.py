"""Documents of every dialect are refused by the same rules before anybody looks at what they say."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from conformance.cases.case_error import CaseError
from conformance.cases.document import decoded
from conformance.runner.dialects import dialects, load_case


class Document(msgspec.Struct, forbid_unknown_fields=True):
    format: int
    inner: dict[str, int] = {}


@pytest.mark.parametrize("name", sorted(dialects()))
def test_a_case_of_another_format_is_refused_by_its_format(name: str, tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(f'{{"format": 99, "dialect": "{name}", "novelty": true}}')
    with pytest.raises(CaseError, match="it has format 99; this suite reads format "):
        load_case(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"format": 1, "format": 1}', "the key 'format' twice"),
        (b'{"format": 1, "inner": {"x": 1, "x": 2}}', "the key 'x' twice"),
        (b'{"format": 3}', "it has format 3; this suite reads the formats 1 and 2"),
        (b'{"format": 1, "inner"', "it is not JSON"),
    ],
)
def test_what_can_be_read_in_two_ways_is_refused(content: bytes, said: str) -> None:
    with pytest.raises(CaseError, match=said):
        decoded(content, Document, 1, 2)
