from __future__ import annotations

from tests.faults.document import PATH, TABLES, text


def test_the_page_is_what_the_tables_say() -> None:
    assert PATH.read_text(encoding="utf-8") == text(), "run: python -m tests.faults.document"


def test_there_are_at_least_a_hundred_kinds_and_none_twice() -> None:
    done = [(table.heading, fault.done) for table in TABLES for fault in table.faults]
    assert len(done) == len(set(done)) >= 100
