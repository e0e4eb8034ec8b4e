"""What tells one cause of failures from another: the outcome, the class of an error or the signal, and what was said.

Two failing cases whose signatures differ never stand for each other: one bug does not raise here what it computes
wrongly there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from conformance.cases.observation import Observation, RankError
from conformance.judging.clause import Outcome

_SIGNAL: Final = re.compile(r"\bSIG[A-Z0-9]{2,}\b")

_HEARD: Final = re.compile(r"Connection (?:closed|reset) by peer|Broken pipe|[Tt]imed out waiting|wait timeout")
"""What a rank hears of whom it waited for and who has ended, or has raised and went away."""

_DTYPES: Final = re.compile(
    r"\b(?:bool|pred|b?f(?:loat|p)?\d+(?:_?e\dm\d\w*)?|[su]?int\d+|[suci]\d+|complex\d+|half|double|long|short|char)\b"
    r"|\bbfloat16\b",
    re.IGNORECASE,
)

_DEVIATIONS: Final = (
    ("dtype is", "dtype"),
    ("shape is", "shape"),
    ("elements differ", "elements"),
    ("is missing on rank", "missing"),
    ("accepted without an error", "accepted"),
    ("did not raise", "accepted"),
    ("storage element", "storage"),
    ("as a bool", "bool byte"),
)
"""How the comparisons word what they find, and the kind of deviation that it is."""

LONGEST: Final = 100
"""Characters of a message that tell causes apart: what comes later is mostly a stack or the arguments."""


class Signature(NamedTuple):
    """An outcome, the class of what was raised or the signal, and the kind of deviation or the message without data."""

    outcome: Outcome
    error: str
    says: str


def first_error(errors: Sequence[RankError | None]) -> tuple[int, RankError] | None:
    """Return the first rank that raised and its error, one that only heard of the end of another only where all did."""
    return next(iter(told_errors(errors)), None)


def told_errors(errors: Sequence[RankError | None]) -> list[tuple[int, RankError]]:
    """Return the ranks that raised and their errors, without those that only heard of the end of another."""
    raised = [(rank, error) for rank, error in enumerate(errors) if error is not None]
    return [one for one in raised if not _HEARD.search(one[1].message)] or raised


def error_of(seen: Observation) -> str | None:
    """Return the class of the error that tells what happened, with the signal where its message names one."""
    _, first = first_error(seen.errors) or (0, None)
    if first is None:
        return None
    found = _SIGNAL.search(first.message)
    return f"{first.kind} {found.group()}" if found else first.kind


def signature(outcome: Outcome, error: str | None, detail: str | None) -> Signature:
    """Return what tells the cause of a failing case from others.

    Of a process that ended, hung or broke the protocol the error says all; else the detail does.
    """
    if outcome in ("crashed", "timeout"):
        return Signature(outcome, error or "", "")
    kind = next((word for sign, word in _DEVIATIONS if detail and sign in detail), None)
    if kind is not None and (outcome == "failed" or error is None):
        return Signature(outcome, error or "", kind)
    if outcome == "failed" and error is None:  # Two results that differ: the words are names and numbers.
        return Signature(outcome, "", "values")
    return Signature(outcome, error or "", normalised(detail or ""))


def normalised(message: str) -> str:
    """Return a message without what changes with the data: numbers, lists, quotations, addresses, paths, dtypes."""
    text = message.split("; ", 1)[0] if "raised" not in message else re.sub(r"^rank \d+ raised \w+: ", "", message)
    text = re.sub(r"0x[0-9a-fA-F]+", "#", text)
    text = re.sub(r"(?:/[\w.+-]+){2,}(?::\d+)?", "PATH", text)
    text = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "'..'", text)
    text = _DTYPES.sub("DTYPE", text)
    text = re.sub(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", "#", text)
    text = re.sub(r"#(?:\s*[,x ]\s*#)+", "#", text)
    text = re.sub(r"[\[(<{]\s*(?:#\s*,?\s*)?[\])>}]", "[#]", text)
    return " ".join(text.split())[:LONGEST]
