"""A topic: what people ask about in words of their own, with a short answer and the clauses that give it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Topic:
    """A question in a few words, its answer, and where the answer stands.

    ``words`` are further words that lead here, those of frameworks and of errors among them. An ``outside`` topic is
    one of which the specification says nothing, and the answer is why.
    """

    name: str
    words: tuple[str, ...]
    answer: str
    clauses: tuple[str, ...]
    page: str = ""
    outside: bool = False


def topic(name: str, words: str, answer: str, clauses: str = "", page: str = "") -> Topic:
    """Return a topic; words are separated by commas, clauses by spaces."""
    return Topic(
        name, tuple(each.strip() for each in words.split(",") if each.strip()), answer, tuple(clauses.split()), page
    )


def outside(name: str, words: str, answer: str, clauses: str = "") -> Topic:
    """Return a topic of which the specification says nothing."""
    found = topic(name, words, answer, clauses)
    return Topic(found.name, found.words, found.answer, found.clauses, outside=True)
