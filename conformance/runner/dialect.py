"""What the engine needs to know of a dialect of cases: one frozen value of functions a dialect.

The engine draws, asks, records, resumes and makes smaller; what a case is, what it means, what a backend is asked about
it and what the answers say, the dialect knows (``runner.dialects``, one module each).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from conformance.backends.base import Claims
from conformance.backends.claim_limits import outside
from conformance.backends.protocol import Kind
from conformance.cases.declarations.terms import Terms
from conformance.generate.choices import Choice
from conformance.judging.clause import AnyClause
from conformance.judging.sharded.step_outcome import StepSeen
from conformance.judging.verdict import Verdict
from conformance.runner.records.record import Covered
from conformance.runner.worker.answers import Answer, Request

C = TypeVar("C")
S = TypeVar("S")
S_contra = TypeVar("S_contra", contravariant=True)


@dataclass(frozen=True)
class Ask:
    """One request to a backend; ``elsewhere`` asks another process of it."""

    request: Request
    elsewhere: bool = False


Dialogue = Generator[Ask, Answer, Verdict]
"""What is asked about one case, one request after the other, each with the answers to those before, and the verdict."""


@dataclass(frozen=True)
class Facts:
    """What a record says of a case, and what claims are held against.

    ``op`` is the operation that it is recorded under, ``ops`` are all that a backend must have for it, and ``features``
    has, by operation, the words of each feature.
    """

    op: str
    ops: tuple[str, ...]
    dtype: str
    world: int
    legal: bool = True
    features: Mapping[str, Mapping[str, AbstractSet[str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class CompanyOf:
    """What cases share that may be asked about together: kind and devices. Their values have ``size`` bytes."""

    kind: Kind
    devices: Hashable
    size: int


@dataclass(frozen=True)
class DialectSuite(Generic[C]):
    """Cases to draw, by operation.

    ``share`` is the part of a run's examples that is drawn for each operation, times its weight, which is 1 by default.
    """

    name: str
    summary: str
    domains: Mapping[str, Choice[C]]
    share: float = 1.0
    weights: Mapping[str, float] = field(default_factory=dict)

    def drawn(self, op: str, examples: int) -> int:
        """Return how many cases of an operation are drawn where ``examples`` are asked for."""
        return max(1, round(examples * self.share * self.weights.get(op, 1.0)))


class Counting(Protocol[S_contra]):
    """Counts which situations the cases of a run show."""

    def add(self, subject: S_contra) -> None:
        """Count one case."""

    def measured(self) -> dict[str, Covered]:
        """Return what met, of what may meet."""


@dataclass(frozen=True)
class Dialect(Generic[C, S]):
    """How cases of the type ``case`` are drawn, asked, judged and made smaller; ``S`` is what such a case means.

    The ``name`` is that which its case files give. The values of cases: ``id_of`` gives the id, unique over all
    dialects, ``save`` and ``load`` the file; ``load`` raises ``CaseError`` for anything but a sound one.

    ``suites`` have what is drawn, by name; no other dialect has an operation of theirs. ``mean`` asks the oracle what a
    case means; it raises ``ValueError`` for a malformed one, and returns ``None`` for a draw that is no case of this
    dialect. ``facts`` are about a case with its meaning.

    ``clauses`` are those that may be to blame for a case recorded under an operation, as a backend of some terms is
    held to them, the most particular last; ``own`` are those of them that its records list. ``speaking`` are the ids of
    those that a case makes speak whatever is answered, ``expected`` those that a run of operations and suites must have
    made speak.

    ``dialogue`` asks about a case and judges it; it is pure: sent the same answers it asks and returns the same.
    Claims are held against the features of its facts; ``probed`` is whether one left out is asked all the same, to see
    whether the claim is too small; ``features`` has the words of claims, none for those counted in whole numbers.

    ``reductions`` and ``neutral`` yield cases that are smaller by one step, and those with one special feature less,
    ``leaps`` those that are smaller by much, ``length`` has the steps or nodes of a case, by which a leap makes it
    shorter, ``heads`` the beginnings of a case, the shortest first, and ``parts`` its steps, each as a case of its own;
    what they yield may be malformed. ``size`` says how large a case is, the worst to read first; ``empty`` whether
    there is nothing in it to compare. ``slow`` ones are asked less often while they are made smaller.

    ``company`` is by what a case may be asked about together with others. It is ``None`` of one that is to be refused,
    or that is more than a function of its inputs.
    ``unanswered`` are the steps of a program on sharded tensors that are known to be refused where nothing was given.
    ``valued`` is whether what a legal case means has a value to compare, with an element or without one by nature.
    Where that is set a process is asked about ``one_at_a_time``. Where it is ``dear`` to ask about a case, none are
    drawn beyond the examples because they lie outside some backend's claims. Where clauses are about answers
    (``answered``), those that no answer made speak are told of each backend.
    """

    name: str
    summary: str
    case: type[C]
    id_of: Callable[[C], str]
    save: Callable[[C, Path], None]
    load: Callable[[Path], C]
    suites: Mapping[str, DialectSuite[C]]
    mean: Callable[[C], S | None]
    facts: Callable[[S], Facts]
    clauses: Callable[[str, Terms], tuple[AnyClause, ...]]
    own: Callable[[str, Terms], tuple[AnyClause, ...]]
    speaking: Callable[[S], AbstractSet[str]]
    expected: Callable[[Sequence[str], Sequence[str]], AbstractSet[str]]
    dialogue: Callable[[S, Terms], Dialogue]
    probed: Callable[[Claims, S], bool]
    features: Mapping[str, tuple[str, ...]]
    reductions: Callable[[C], Iterator[C]]
    neutral: Callable[[C], Iterator[C]]
    size: Callable[[C], tuple[int, ...]]
    counting: Callable[[], Counting[S]]
    empty: Callable[[C], bool] = lambda _: False
    valued: Callable[[S], bool] = lambda _: True
    slow: Callable[[C], bool] = lambda _: False
    one_at_a_time: bool = False
    dear: bool = False
    answered: bool = False
    unanswered: Callable[[S], tuple[StepSeen, ...]] = lambda _: ()
    leaps: Callable[[C], Iterator[C]] = lambda _: iter(())
    length: Callable[[C], int] = lambda _: 0
    heads: Callable[[C], Iterator[C]] = lambda _: iter(())
    parts: Callable[[C], Iterator[C]] = lambda _: iter(())
    company: Callable[[S], CompanyOf | None] = lambda _: None

    @cached_property
    def ops(self) -> tuple[str, ...]:
        """Return the operations that its suites draw cases for, sorted."""
        return tuple(sorted({op for suite in self.suites.values() for op in suite.domains}))


AnyDialect = Dialect[Any, Any]


@dataclass(frozen=True)
class Trial:
    """A case with what it means, as backends are asked about it: its id and the suite that drew it."""

    name: str
    case: Any
    subject: Any
    dialect: AnyDialect
    suite: str = "collectives"

    @cached_property
    def facts(self) -> Facts:
        """Return what a record says of it."""
        return self.dialect.facts(self.subject)

    def outside(self, claims: Claims) -> str | None:
        """Return the claim that leaves it out, if one does."""
        return outside(claims, self.facts.features)
