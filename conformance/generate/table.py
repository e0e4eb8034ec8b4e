"""Tables of factors with their levels, of each row of which a case is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Table:
    """Factors with their levels, the plainest first, and what makes a case of a row.

    ``make`` returns ``None`` for a row that is no case of this dialect, or one without a meaning.
    """

    name: str
    factors: Mapping[str, Sequence[Any]]
    make: Callable[[Row], Any | None]

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a factor without levels."""
        for name, levels in self.factors.items():
            if not levels:
                raise ValueError(f"the factor {name!r} of the table of {self.name} has no levels; it needs one")

    def limited(self, of: str, **levels: Sequence[Any]) -> Table:
        """Return the table of some levels of some factors, under a name that says ``of`` what."""
        return Table(f"{self.name} of {of}", {**self.factors, **levels}, self.make)

    def row(self, numbers: Sequence[int]) -> dict[str, Any]:
        """Return a row by the numbers of its levels, in the order of the factors."""
        return {name: levels[number] for (name, levels), number in zip(self.factors.items(), numbers, strict=True)}
