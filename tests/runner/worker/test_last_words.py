"""What a process that did not start said last."""

from __future__ import annotations

from conformance.runner.worker.starts import last_words


def test_all_lines_of_the_last_message_are_told() -> None:
    trace = "Traceback (most recent call last):\n  File x\n    y\n"
    assert last_words(f"noise\n{trace}RuntimeError: no device\nset ACME\n") == "RuntimeError: no device set ACME"
    assert last_words("one\ntwo\n") == "two"
    assert last_words("") == ""


def test_what_a_launcher_writes_above_a_rule_is_told_by_its_first_paragraph() -> None:
    rule = "-" * 70
    text = f"noise\n{rule}\nThere are not enough slots\nfor 4 ranks.\n\nAsk for fewer.\n{rule}\n"
    assert last_words(text) == "There are not enough slots for 4 ranks."
    assert last_words(f"It runs as root.\n\nDo not.\n{rule}\n") == "It runs as root."
    assert last_words(rule) == ""
