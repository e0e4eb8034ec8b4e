"""A row of the table of names: what a framework calls something, our form of it, and whether they mean the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Relation = Literal["equal", "otherwise", "equal, not run", "otherwise, not run", "says nothing"]

RELATIONS: Final[dict[str, str]] = {
    "equal": "What was run gives what our form means, bit for bit. A test runs it on the installed framework.",
    "otherwise": "The framework gives something else, as the last column says. A test runs it on the installed "
    "framework, and sees that it does.",
    "says nothing": "One of both says nothing of it: this specification has no form of it, or the framework's "
    "documents "
    "do not say what is asked. Nothing is run.",
    "equal, not run": "The documents of the framework have it as our form has it. No test runs it: the tests lack the "
    "devices for it, or no value shows it.",
    "otherwise, not run": "The documents of the framework have it otherwise, as the last column says. No test runs it: "
    "the tests lack the devices for it, or what happens is undefined.",
}
"""What each relation says."""

OTHERWISE: Final = ("otherwise", "otherwise, not run")
"""The relations of names that mean something else."""

_SENTENCES: Final[dict[str, str]] = {
    "equal": "{} is `{}`.",
    "otherwise": "{} is otherwise than `{}`.",
    "equal, not run": "{} is `{}` by its documents; no test runs it.",
    "otherwise, not run": "{} is otherwise than `{}` by its documents; no test runs it.",
    "says nothing": "{} is not compared with `{}`.",
}


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
    def sentence(self) -> str:
        """Return the row as sentences that can be read alone."""
        name = f"{self.name}, {self.aspect}," if self.aspect else self.name
        said = _SENTENCES[self.relation].format(name, self.ours)
        if not self.ours:
            said = said.replace(" with ``", "")
        return " ".join(each for each in (said, self.difference, f"({self.status})" if self.status else "") if each)

    @property
    def operation(self) -> str:
        """Return the operation that our form begins with, or nothing."""
        return self.ours.partition("(")[0]


BEFORE_WAIT: Final = "writing the buffer before the wait"
"""The aspect of what is started: whether its operand may be written while it is under way."""

READ_AT_START: Final = "here the operand is read at the start, and may be written after it"
"""What this specification has there."""


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
        """Return the row of a name that means what our form means by its documents; no test runs it."""
        return self._row(name, ours, "equal, not run", note, clauses, aspect, status)

    def documented_otherwise(
        self, name: str, ours: str, clauses: str, difference: str, *, aspect: str = "", status: str = ""
    ) -> FrameworkName:
        """Return the row of a name that means something else by its documents; no test runs it."""
        return self._row(name, ours, "otherwise, not run", difference, clauses, aspect, status)

    def _row(
        self, name: str, ours: str, relation: Relation, difference: str, clauses: str, aspect: str, status: str
    ) -> FrameworkName:
        return FrameworkName(self.name, name, ours, relation, difference, tuple(clauses.split()), aspect, status)
