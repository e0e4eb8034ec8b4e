"""The deck as a file: a head, the tables that cases are numbered by, and a line a case.

A case has what it is, the digest of what it means, what it shows by the numbers of clauses and words, and the words
that claims are held against. There are no expected results: the reference has them in less than a millisecond, and a
worker could read them.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.judging.clause import AnyClause
from conformance.specs import every_clause
from conformance.specs.graphs import CLAUSES as OF_GRAPHS
from conformance.specs.sharded import CLAUSES as OF_SHARDED
from conformance.specs.types.clauses import CLAUSES as OF_TYPES
from conformance.vectors.deck_error import AGAIN, DeckError
from conformance.vectors.goals import PartNumbers
from conformance.vectors.meaning import meaning_digest
from conformance.vectors.stored import Form, read

FORMAT: Final = 1
"""Version of the form of the file."""

FILE: Final = Path(__file__).with_name("deck.jsonl.gz")
"""The deck of this version of the suite."""


class FrozenCase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One case. ``name`` is its id, ``origin`` where it is from, ``meaning`` the digest of what it means.

    ``seconds`` are what meaning, the reference's answer and the verdict take of a processor. ``facts`` has, by
    operation, the numbers of the words that claims are held against; ``parts`` what it shows.
    """

    name: str
    form: Form
    family: str
    suite: str
    op: str
    origin: str
    seconds: float
    meaning: str
    facts: dict[str, list[int]]
    parts: list[PartNumbers]
    text: msgspec.Raw

    @property
    def case(self) -> Any:
        """Return the case; raise ``DeckError`` where its text is none."""
        try:
            return read(self.form, self.text)
        except msgspec.DecodeError as error:
            raise DeckError(f"case {self.name} of the deck is no {self.form}: {error}; {AGAIN}") from error


class Tables(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What numbers stand for: clauses (or what is done, where nothing is a clause), words, and features with words."""

    clauses: list[str]
    words: list[str]
    facts: list[tuple[str, str]]


class Head(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first line: ``digest`` is the SHA-256 of all that follows."""

    format: int
    made: str
    digest: str


class Deck(msgspec.Struct, frozen=True, kw_only=True):
    """Cases in the order that is best where everything is claimed."""

    made: str
    digest: str
    tables: Tables
    cases: tuple[FrozenCase, ...]

    def features(self, one: FrozenCase) -> Mapping[str, Mapping[str, frozenset[str]]]:
        """Return the words of a case that claims are held against, by operation and feature."""
        found: dict[str, dict[str, set[str]]] = {}
        for op, numbers in one.facts.items():
            of = found.setdefault(op, {})
            for number in numbers:
                feature, word = self.tables.facts[number]
                of.setdefault(feature, set()).add(word)
        return {op: {name: frozenset(words) for name, words in of.items()} for op, of in found.items()}


def check_meaning(one: FrozenCase, subject: object) -> None:
    """Raise ``DeckError`` where a case no longer means what its digest says."""
    now = meaning_digest(subject)
    if now != one.meaning:
        raise DeckError(
            f"case {one.name} of the deck no longer means what its digest says: {one.meaning} then, {now} now; {AGAIN}"
        )


@cache
def deck() -> Deck:
    """Return the deck of this version of the suite; raise ``DeckError`` where it does not fit it."""
    return read_deck(FILE)


def read_deck(path: Path, *, anew: bool = False) -> Deck:
    """Return the deck in a file; raise ``DeckError`` where it is none, was changed, or is of another specification.

    Of one that is to be made ``anew`` clauses may be gone.
    """
    try:
        first, second, *rest = gzip.decompress(path.read_bytes()).splitlines()
        head = msgspec.json.decode(first, type=Head)
        _check(path, head, hashlib.sha256(b"\n".join((second, *rest))).hexdigest())
        tables = msgspec.json.decode(second, type=Tables)
        cases = tuple(msgspec.json.decode(line, type=FrozenCase) for line in rest)
    except DeckError:
        raise
    except (OSError, EOFError, zlib.error, ValueError) as error:
        raise DeckError(f"deck {path} is not to be read: {type(error).__name__}: {error}; {AGAIN}") from error
    gone = sorted({each for each in tables.clauses if is_clause(each)} - clauses())
    if gone and not anew:
        raise DeckError(
            f"deck {path} is of another specification: of its clauses {len(gone)} are gone, {gone[0]} first; {AGAIN}"
        )
    return Deck(made=head.made, digest=head.digest, tables=tables, cases=cases)


def _check(path: Path, head: Head, digest: str) -> None:
    if head.format != FORMAT:
        raise DeckError(f"deck {path} has the format {head.format}; this version of the suite reads {FORMAT}")
    if head.digest != digest:
        raise DeckError(f"deck {path} was changed: its digest is {digest:.12}, and it says {head.digest:.12}; {AGAIN}")


def write_deck(path: Path, made: str, tables: Tables, cases: Sequence[FrozenCase]) -> None:
    """Write a deck, whole or not at all: the same bytes for the same cases."""
    lines = [msgspec.json.encode(each) for each in (tables, *cases)]
    body = b"\n".join(lines)
    head = msgspec.json.encode(Head(format=FORMAT, made=made, digest=hashlib.sha256(body).hexdigest()))
    half = path.with_suffix(".half")
    half.write_bytes(gzip.compress(head + b"\n" + body, 9, mtime=0))
    half.replace(path)


def is_clause(name: str) -> bool:
    """Return whether something in the table of clauses is one, and not what is done by a step that has none."""
    return " " not in name


@cache
def clauses() -> frozenset[str]:
    """Return the ids of the clauses that cases make speak."""
    others: tuple[AnyClause, ...] = (*OF_GRAPHS, *OF_SHARDED, *OF_TYPES)
    return frozenset(every_clause()) | {clause.id for clause in others}
