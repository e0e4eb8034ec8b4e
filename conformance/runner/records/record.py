"""The records of a run log: a header, one for each case and backend, one for each way to fail, and a footer."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from conformance.cases.observation import Seconds
from conformance.judging.clause import Held, Outcome, Requirement
from conformance.judging.numbers.classes import Class
from conformance.judging.sharded.step_outcome import StepSeen
from conformance.runner.records.company import Companies, Company
from conformance.runner.records.exercised import Exercised
from conformance.runner.records.known import Expected
from conformance.runner.records.power import Power
from conformance.runner.records.repeated import Repeated

FORMAT: Final = 1
"""The format of the logs that are written, and the only one that is read."""


LONGEST_FILE: Final = 240
"""Characters in the name of a file, of which file systems take 255 bytes."""

Word = Annotated[str, Meta(max_length=256)]
"""A name of ours: an operation, a suite, a clause."""


class BackendEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A judged backend: what it says of itself, claims and guarantees, which sources it follows, its number model."""

    name: str
    description: dict[str, str]
    claims: dict[str, dict[str, list[str]]]
    guarantees: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    number_model: dict[str, Any] = {}


class Header(msgspec.Struct, frozen=True, kw_only=True, tag="header"):
    """What was run, with what, where. Digests are SHA-256 of the sources they name."""

    format: int
    suites: tuple[str, ...]
    spec_digest: str
    reference_digest: str
    seed: int
    profile: str
    examples: int
    ops: tuple[str, ...]
    started: str
    environment: dict[str, str]
    backends: tuple[BackendEntry, ...]


class CaseRecord(msgspec.Struct, frozen=True, kw_only=True, tag="case", omit_defaults=True):
    """One case on one backend.

    ``suite`` is the one that drew it first. ``clauses`` has a verdict for every clause of ``op`` that speaks about the
    case, and for those of its other operations that are broken (none when it was not judged).
    ``blame`` is the most particular broken clause, ``detail`` what was seen and expected, and ``error`` the class of
    what was raised or the signal; ``note`` is evidence beside the verdict. ``unrepeated`` is the outcome that the case
    came to after others in one process and not alone in a fresh one. ``expected`` is a second axis: the case was
    replayed because somebody said that it fails. ``classes`` are the admissible ones that all elements of a passed
    reduction belong to, strongest first, where its terms are order-sensitive (``docs/numerics.md``), and
    ``shown`` the words of the number model, each as "dtype kind word", that the case needed to pass.
    ``steps`` are those of a program on sharded tensors of which each alone made a value, or was refused.
    ``met`` numbers what the case shows of that the backend claims (``backend.promises``), where it was judged.
    ``bare`` says that it passed without a value: it was to be refused, or there was no element.
    Of a ``flaky`` case ``came_to`` has how often it came to which outcome, and of one outside the claims that was run
    all the same and had no answer, what it came to.
    ``origin`` is the deck or the draw that the case came from (``records.origin``), and ``observation`` the SHA-256 of
    all answers that the verdict is on, in hex; none where nothing was asked, or where it was asked again alone.

    ``company`` is there where the case was asked about together with others (``records.company``).

    Of two records of one case and backend the later one holds: what failed and then passed alone is written again.
    """

    backend: str
    case: str
    op: Word
    dtype: str
    world: int
    outcome: Outcome
    clauses: dict[Word, Held]
    seconds: Seconds
    suite: Word = "collectives"
    blame: Word | None = None
    requirement: Requirement | None = None
    detail: str | None = None
    error: str | None = None
    note: str | None = None
    unrepeated: Outcome | None = None
    came_to: dict[Outcome, int] = {}
    under_claimed: bool = False
    expected: Expected | None = None
    classes: tuple[Class, ...] = ()
    shown: tuple[str, ...] = ()
    steps: tuple[StepSeen, ...] = ()
    met: tuple[int, ...] = ()
    bare: bool = False
    origin: Word | None = None
    observation: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")] | None = None
    company: Company | None = None


class Failure(msgspec.Struct, frozen=True, kw_only=True, tag="failure"):
    """One way in which a backend fails, by its smallest case.

    ``clause`` is to blame: no smaller case triggers fewer clauses and fails alike. ``error`` is the class of what was
    raised, or the signal. ``file`` is the case, relative to the log. ``explains`` lists the cases of the run that fail
    with the same outcome, error and deviation and break every clause this one breaks, and ``alike`` other smallest
    cases that fail in the same way, stored beside the first. ``alone`` counts the cases, the smallest among them, that
    failed alike alone in a fresh process; it is ``None`` where nothing could be run alone.
    ``minimal`` says that every listed reduction was tried and none still fails. A ``known`` failure is a stored
    case that was replayed and not shrunk again.
    """

    backend: str
    op: str
    clause: str
    requirement: Requirement
    outcome: Outcome
    case: str
    file: str
    detail: str
    minimal: bool
    explains: tuple[str, ...]
    alike: tuple[str, ...] = ()
    error: str | None = None
    alone: int | None = None
    known: Expected | None = None


class SequenceFailure(msgspec.Struct, frozen=True, kw_only=True, tag="sequence"):
    """Cases that one process must run one after the other for the last of them to fail: alone, that one passes.

    ``cases`` are in order, ``files`` where they are stored, relative to the log. How the last one ends, which clause
    is to blame and whether that is a *must* is said as of a ``Failure``, though no clause of its operation is what is
    wrong: something that an earlier case left behind is. ``explains`` are the cases of the run that failed in a process
    with such a case before and passed alone. ``minimal`` says that the last one passes without any one of the others.
    It is ``known`` where one of the others is a case that a known failure stands for.
    """

    backend: str
    op: str
    clause: str
    requirement: Requirement
    outcome: Outcome
    cases: tuple[str, ...]
    files: tuple[str, ...]
    detail: str
    minimal: bool
    explains: tuple[str, ...]
    error: str | None = None
    known: Expected | None = None


class DrawnParts(msgspec.Struct, frozen=True, kw_only=True, tag="drawn"):
    """What had been drawn when the drawing of a run ended, those that it goes on from included.

    ``exercised`` has, by operation, the clauses that its cases made speak, judged or not. A part is what one suite
    draws for one operation, as ``suite of operation``: ``undrawn`` are those that the time budget cut short, and
    nothing that was drawn of those ``beyond`` lies within the claims of any backend.
    """

    exercised: dict[Word, tuple[Word, ...]]
    undrawn: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()

    def after(self, earlier: DrawnParts) -> DrawnParts:
        """Return what was drawn in two runs of one plan, of which this is the later."""
        ops = sorted({*earlier.exercised, *self.exercised})
        spoke = {op: {*earlier.exercised.get(op, ()), *self.exercised.get(op, ())} for op in ops}
        kept = [part for part in earlier.beyond if part in self.undrawn]
        return DrawnParts(
            exercised={op: tuple(sorted(clauses)) for op, clauses in spoke.items()},
            undrawn=tuple(part for part in self.undrawn if part in earlier.undrawn),
            beyond=tuple(sorted({*self.beyond, *kept})),
        )


class Silence(msgspec.Struct, frozen=True, kw_only=True):
    """The *must* clauses of operations that a backend claims which spoke in no case that it was judged by.

    Those of ``clauses`` spoke in other cases, those of ``answers`` are about what no answer had, and those of
    ``suites`` belong to suites without any such case, by name. ``words`` are those of its number model, each as "kind
    word", that no case showed.
    """

    clauses: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    suites: dict[str, tuple[str, ...]] = {}
    words: tuple[str, ...] = ()


class Covered(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the feasible interactions were met, and what most of the others have in common."""

    met: int
    feasible: int
    holes: tuple[str, ...] = ()


class Footer(msgspec.Struct, frozen=True, kw_only=True, tag="footer"):
    """Counts of the run's cases by backend and outcome; a log without it is incomplete.

    ``silent`` has what the run does not say of each backend. ``coverage`` has, where it was asked for, the interactions
    of case features that met: ``pairs``, ``triples`` and ``trigrams`` of steps.
    ``undrawn`` names the draws, ``suite of operation``, that the time budget cut short, and ``unjudged`` the operations
    claimed or asked for by name of which a backend was judged by no case, ``unshown`` those of which none passed with a
    value.
    ``unrepeated`` counts, for each backend, the cases that failed after others and passed alone, and that no sequence
    explains. ``resumed`` counts the records taken over from an earlier run or slices, ``asked_again`` those of them
    judged anew, and ``differing`` those that came out otherwise. ``power`` says of each backend what its cases can see,
    and ``exercised`` what of its claims judged cases showed. ``repeated`` says of each what asking again showed.
    ``companies`` has of each backend that was asked about
    cases together what that came to.
    """

    finished: str
    seconds: float
    counts: dict[str, dict[str, int]]
    seconds_by_backend: dict[str, float] = {}
    clauses_never_exercised: tuple[str, ...] = ()
    silent: dict[str, Silence] = {}
    coverage: dict[str, Covered] = {}
    unrepeated: dict[str, int] = {}
    undrawn: tuple[str, ...] = ()
    unjudged: dict[str, tuple[str, ...]] = {}
    unshown: dict[str, tuple[str, ...]] = {}
    resumed: int = 0
    asked_again: int = 0
    differing: int = 0
    power: dict[str, Power] = {}
    exercised: dict[str, Exercised] = {}
    repeated: dict[str, Repeated] = {}
    companies: dict[str, Companies] = {}


Record = Header | CaseRecord | Failure | SequenceFailure | DrawnParts | Footer


def case_file(name: str) -> str:
    """Return where the case with this id is kept, relative to the log or file that names it.

    An id names every collective of a program; of a long one the file has the beginning, and the digest at its end.
    """
    flat = name.replace("/", "_")
    return f"cases/{flat if len(flat) <= LONGEST_FILE else flat[: LONGEST_FILE - 13] + flat[-13:]}.json"
