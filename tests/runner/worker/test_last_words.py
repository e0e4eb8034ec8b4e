"""What a process that did not start said last."""

from __future__ import annotations

from conformance.runner.worker.starts import last_words


def test_all_lines_of_the_last_message_are_told() -> None:
    trace = "Traceback (most recent call last):\n  File x\n    y\n"
    assert last_words(f"noise\n{trace}RuntimeError: no device\nset ACME\n") == "RuntimeError: no device set ACME"
    assert last_words("one\ntwo\n") == "two"
    assert last_words("") == ""
