"""One row of the kill matrix."""

from __future__ import annotations

import inspect

import msgspec

from conformance.backends.base import Backend


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """What the suite made of one mutant.

    ``clause`` is to blame for the first failure, after ``cases`` distinct cases and ``seconds`` (start-up included);
    ``clauses`` are all that were seen broken until ``breaks`` was. ``killed`` means that it failed and, where it
    says which clause it ``breaks``, that this is among them; ``exact`` that this clause tells it from other mutants, as
    one about values that all operations share does not. ``problem`` says why it could not be judged, if it could not,
    ``reached`` whether any case has what it changes; ``control`` names the unbroken class that it derives from and that
    passes the same cases, if there is one.
    """

    name: str
    breaks: str | None
    killed: bool
    exact: bool = False
    clause: str | None
    clauses: tuple[str, ...]
    cases: int
    seconds: float
    doc: str
    corpus: tuple[str, ...]
    problem: str = ""
    reached: bool = True
    control: str = ""


def unjudged(mutant: type[Backend], problem: str, *, reached: bool = True) -> Mutant:
    """Return the row of a mutant that could not be judged, or that no case ``reached``."""
    return Mutant(
        name=mutant.__qualname__,
        breaks=getattr(mutant, "breaks", None),
        killed=False,
        clause=None,
        clauses=(),
        cases=0,
        seconds=0.0,
        doc=" ".join((inspect.getdoc(mutant) or "").split()),
        corpus=tuple(getattr(mutant, "corpus", ())),
        problem=problem,
        reached=reached,
    )
