"""A row of the table of names: what a framework calls something, our form of it, and whether they mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Relation = Literal["equal", "otherwise", "says nothing", "not run"]

RELATIONS: Final[dict[str, str]] = {
    "equal": "What was run gives what our form means, bit for bit. A test runs it on the installed framework.",
    "otherwise": "The framework gives something else, as the last column says. A test runs it on the installed "
    "framework, and sees that it does.",
    "says nothing": "One of both says nothing of it: this specification has no form of it, or the framework's "
    "documents "
    "do not say what is asked. Nothing is run.",
    "not run": "The documents of the framework have it so. No test runs it: it needs devices that the tests "
    "do not have.",
}
"""What each relation says."""


@dataclass(frozen=True)
class FrameworkName:
    """A name as a framework spells it, and one ``aspect`` of it where a name has several rows.

    ``ours`` is our form, empty where there is none. ``difference`` says what is otherwise, or what else a reader should
    know. ``status`` says since when a name is new, deprecated or gone, and what takes its place. ``clauses`` are those
    that say what our form means.
    """

    framework: str
    name: str
    ours: str
    relation: Relation
    difference: str = ""
    clauses: tuple[str, ...] = ()
    aspect: str = ""
    status: str = ""

    @property
    def key(self) -> str:
        """Return the name with its aspect."""
        return f"{self.name}, {self.aspect}" if self.aspect else self.name

    @property
    def operation(self) -> str:
        """Return the operation that our form begins with, or nothing."""
        return self.ours.partition("(")[0]


@dataclass(frozen=True)
class Framework:
    """Makes the rows of one framework. Clauses are given as one text, with spaces between their ids."""

    name: str

    def equal(
        self, name: str, ours: str, clauses: str, note: str = "", *, aspect: str = "", status: str = ""
    ) -> FrameworkName:
        """Return the row of a name that means what our form means."""
        return self._row(name, ours, "equal", note, clauses, aspect, status)

    def otherwise(
        self, name: str, ours: str, clauses: str, difference: str, *, aspect: str = "", status: str = ""
    ) -> FrameworkName:
        """Return the row of a name that means something else."""
        return self._row(name, ours, "otherwise", difference, clauses, aspect, status)

    def silent(
        self, name: str, why: str, clauses: str = "", *, ours: str = "", aspect: str = "", status: str = ""
    ) -> FrameworkName:
        """Return the row of a name of which one side says nothing."""
        return self._row(name, ours, "says nothing", why, clauses, aspect, status)

    def documented(
        self, name: str, ours: str, clauses: str, note: str = "", *, aspect: str = "", status: str = ""
    ) -> FrameworkName:
        """Return the row of a name that no test runs."""
        return self._row(name, ours, "not run", note, clauses, aspect, status)

    def _row(
        self, name: str, ours: str, relation: Relation, difference: str, clauses: str, aspect: str, status: str
    ) -> FrameworkName:
        return FrameworkName(self.name, name, ours, relation, difference, tuple(clauses.split()), aspect, status)
