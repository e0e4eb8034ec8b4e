"""One pytest item for each backend, operation and clause; one exploration behind all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import pytest

from conformance.cli.names import Names
from conformance.cli.opening import located, new_directory, opened, output, planned
from conformance.cli.outcome import replay_command
from conformance.cli.parameter_types import Duration
from conformance.cli.problems import problem
from conformance.judging.clause import AnyClause, Requirement
from conformance.report.verdict import unshown
from conformance.runner.dialects import operations
from conformance.runner.explore import explore
from conformance.runner.known.file import KnownError, read_known
from conformance.runner.log.lock import locked
from conformance.runner.log.storage import stored
from conformance.runner.meaning import NONE
from conformance.runner.outcomes import FAILING, UNJUDGED
from conformance.runner.records.record import CaseRecord, Failure, Record
from conformance.runner.result import Result


@dataclass
class Findings:
    """What a run wrote, and what it says of one clause.

    Where a program of one operation fails by another one's clause, which has no item there, the first clause tells it.
    """

    directory: Path
    result: Result
    records: list[CaseRecord] = field(default_factory=list)

    def failures(self, backend: str, op: str, clause: str) -> list[Failure]:
        """Return the ways to fail that the clause is to blame for."""
        return [f for f in self.result.failures if (f.backend, f.op, _told_by(f.op, f.clause)) == (backend, op, clause)]

    def known(self, backend: str, op: str, clause: str) -> list[Failure]:
        """Return the known failures that the clause is to blame for, and that still fail."""
        return [f for f in self.result.known if (f.backend, f.op, _told_by(f.op, f.clause)) == (backend, op, clause)]

    def unmet(self, backend: str, op: str, clause: str) -> list[str]:
        """Return what is wrong with the known failures of the clause."""
        return [
            f"{record.expected.where}: {record.case} {record.expected.says}"
            for record in self.result.unmet
            if record.expected is not None
            and (record.backend, record.op) == (backend, op)
            and _told_by(op, record.expected.known.clause) == clause
        ]

    def unexplained(self, backend: str, op: str, clause: str) -> list[CaseRecord]:
        """Return the failing cases that blame the clause and that no minimal case explains."""
        found = (*self.result.failures, *self.result.known)
        explained = {case for f in found if f.backend == backend for case in f.explains}
        failing = [r for r in self._of(backend, op) if r.outcome in FAILING and r.blame is not None]
        blaming = [r for r in failing if _told_by(op, r.blame) == clause]
        return [record for record in blaming if record.case not in explained]

    def different(self, backend: str, op: str, clause: str) -> list[CaseRecord]:
        """Return the cases that passed although the clause, a *may*, does not hold."""
        return [r for r in self._of(backend, op) if r.outcome == "passed" and r.clauses.get(clause) == "broken"]

    def why_not_exercised(self, backend: str, op: str, clause: str) -> str | None:
        """Return why nothing is known of the clause, or ``None`` when some case was judged by it."""
        records = self._of(backend, op)
        if any(clause in record.clauses for record in records):
            return None
        reasons = sorted({record.detail or "" for record in records if record.outcome in UNJUDGED})
        return "; ".join([f"{clause} was not exercised", *reasons[:3]])

    def _of(self, backend: str, op: str) -> list[CaseRecord]:
        return self._by_lane.get((backend, op), [])

    @cached_property
    def _by_lane(self) -> dict[tuple[str, str], list[CaseRecord]]:
        found: dict[tuple[str, str], list[CaseRecord]] = {}
        for record in self.records:
            found.setdefault((record.backend, record.op), []).append(record)
        return found


def _clauses(op: str) -> tuple[AnyClause, ...]:
    """Return the clauses that may speak about a case of ``op``."""
    return operations()[op].own(op, NONE)


def _told_by(op: str, clause: str | None) -> str | None:
    """Return the clause whose item of ``op`` tells what a clause is to blame for."""
    own = [each.id for each in _clauses(op)]
    return clause if clause is None or clause in own else own[0]


class Judging:
    """Adds the items to a session, and explores when the first of them is run."""

    def __init__(self, config: pytest.Config) -> None:
        """Read the options; raise ``UsageError`` for a backend that cannot be found."""
        self.config = config
        chosen = config.getoption("--conformance-run-dir")
        self.directory = Path(chosen) if chosen else new_directory()
        self.findings: Findings | None = None
        self.error: str | None = None
        try:
            self.suites = Names().convert(config.getoption("--conformance-suite"), None, None)
            ops, budget = config.getoption("--conformance-op"), config.getoption("--conformance-time-budget")
            named = () if ops is None else Names().convert(ops, None, None)
            # Items are there for what was named; what of it some suite judges is planned when they are run.
            planned(named, self.suites, profile=config.getoption("--conformance-profile"), decked=True)
            self.ops = named or tuple(operations())
            self.time_budget = None if budget is None else Duration().convert(budget, None, None)
            judged = config.getoption("--conformance-backend")
            if not any(name.strip() for name in judged.split(",")):
                raise pytest.UsageError("--conformance-backend names nothing")
            self.backends = tuple(located(Names().convert(judged, None, None)))
        except click.ClickException as error:
            raise pytest.UsageError(error.format_message()) from None
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None
        known = config.getoption("--conformance-known")
        try:
            self.known = read_known(Path(known), self.backends) if known else ()
        except KnownError as error:
            raise pytest.UsageError(str(error)) from None
        if hasattr(config, "workerinput") or config.getoption("numprocesses", None):
            raise pytest.UsageError("all conformance items share one exploration: run them without -n")

    def pytest_ignore_collect(self, config: pytest.Config) -> bool | None:
        """Leave other tests out unless they were named: judging a backend is not testing a project."""
        return True if config.args_source is not pytest.Config.ArgsSource.ARGS else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add an item for each backend, operation and clause, before others select among them."""
        root = Branch.from_parent(session, name="conformance", nodeid="conformance", judging=self)
        items.extend(session.genitems(root))

    def explored(self, session: pytest.Session) -> Findings:
        """Return the findings of the one run, made when first asked for; fail the item when it cannot be."""
        if self.error is not None:
            pytest.fail(self.error, pytrace=False)
        if self.findings is None:
            try:
                self.findings = self._explore(session)
            except Exception as error:
                found = error if isinstance(error, click.ClickException) else problem(error)
                if found is None:
                    raise
                self.error = found.format_message()
                pytest.fail(self.error, pytrace=False)
        return self.findings

    def _explore(self, session: pytest.Session) -> Findings:
        wanted = {item.op for item in session.items if isinstance(item, ClauseItem)}
        backends = {item.backend for item in session.items if isinstance(item, ClauseItem)}
        options = self.config.getoption
        plan = planned(
            [op for op in operations() if op in wanted],
            self.suites,
            profile=options("--conformance-profile"),
            examples=options("--conformance-examples"),
            seed=options("--conformance-seed"),
            time_budget=self.time_budget,
            decked=True,
        )
        records: list[CaseRecord] = []

        def watch(record: Record) -> None:
            if isinstance(record, CaseRecord):
                records.append(record)

        with (
            opened([b for b in self.backends if b in backends], time_budget=self.time_budget) as workers,
            output(self.directory, "--conformance-run-dir") as directory,
            locked(directory),
        ):
            return Findings(directory, explore(plan, workers, directory, known=self.known, watch=watch), records)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Make a run that is not whole end with the status of ``conformance run``: never green."""
        if self.findings is not None and self.findings.result.status and session.exitstatus == 0:
            session.exitstatus = self.findings.result.status

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say where the run log is, and whether anything is missing from it."""
        if self.findings is None:
            return
        terminalreporter.section("conformance")
        result, directory = self.findings.result, self.findings.directory
        terminalreporter.line(f"run log: {stored(directory / 'run.jsonl')}; a report: conformance report {directory}")
        for one in result.sequences:
            terminalreporter.line(
                f"{one.backend}: {one.outcome} after {len(one.cases) - 1} other cases and not alone: {one.detail}"
            )
        for name, silent in result.silent.items():
            for line in unshown(silent):
                terminalreporter.line(f"{name}: {line}")
        if result.status == 3:
            once = sum(result.unrepeated.values())
            left = f"{once} cases failed once and passed alone" if once else "not every case was run"
            never = f"never exercised: {', '.join(result.never)}" if result.never else left
            more = "give more --conformance-time-budget" if result.undrawn else "draw more with --conformance-examples"
            terminalreporter.line(f"incomplete: {never}; {more}")


class Branch(pytest.Collector):
    """A level of the tree: all backends, one backend, or one operation of it."""

    def __init__(self, *, judging: Judging, path_of: tuple[str, ...] = (), **kwargs: Any) -> None:
        """Stand for the backend and the operation named so far."""
        super().__init__(**kwargs)
        self.judging = judging
        self.path_of = path_of

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        """Yield the backends, the operations or the clauses."""
        if len(self.path_of) == 2:
            backend, op = self.path_of
            for clause in _clauses(op):
                yield ClauseItem.from_parent(
                    self, name=clause.id, judging=self.judging, backend=backend, op=op, requirement=clause.requirement
                )
            return
        for name in self.judging.ops if self.path_of else self.judging.backends:
            yield Branch.from_parent(self, name=name, judging=self.judging, path_of=(*self.path_of, name))


class ClauseItem(pytest.Item):
    """A clause of an operation on a backend. It passes when no failing case blames the clause."""

    def __init__(self, *, judging: Judging, backend: str, op: str, requirement: Requirement, **kwargs: Any) -> None:
        """Stand for the clause of the item's name."""
        super().__init__(**kwargs)
        self.judging = judging
        self.backend = backend
        self.op = op
        self.requirement = requirement

    def runtest(self) -> None:
        """Fail for a *must* and for a known failure that is not as expected, skip what was not exercised.

        The failure of a *should* or *may*, and a known one, is expected.
        """
        findings = self.judging.explored(self.session)
        where = (self.backend, self.op, self.name)
        demanded = {failure.requirement for failure in findings.failures(*where)}
        demanded |= {record.requirement or "must" for record in findings.unexplained(*where)}
        lines = [
            f"{self._of_another(failure.clause)}{failure.outcome}: {failure.detail} ({len(failure.explains)} cases)"
            "\n    " + replay_command(findings.directory, failure)
            for failure in findings.failures(*where)
        ]
        lines += [
            f"{self._of_another(record.blame)}{record.outcome}: {record.detail} ({record.case})"
            for record in findings.unexplained(*where)
        ]
        unmet, known = findings.unmet(*where), findings.known(*where)
        if unmet:
            pytest.fail("\n".join([*unmet, *lines]), pytrace=False)
        if lines:
            requirement = "must" if "must" in demanded else self.requirement
            text = "\n".join([f"{self.name} ({requirement}): {self._sentence()}", *lines])
            if requirement == "must":
                pytest.fail(text, pytrace=False)
            pytest.xfail(text)
        if known:
            pytest.xfail("\n".join(failure.known.words for failure in known if failure.known))
        different = findings.different(*where)
        if different:
            pytest.xfail(
                f"{self.name} ({self.requirement}): {self._sentence()}\nit does not hold in {len(different)} cases"
            )
        missing = findings.why_not_exercised(*where)
        if missing is not None:
            pytest.skip(missing)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the name that progress and failures are shown under."""
        return self.path, None, self.nodeid

    def _of_another(self, clause: str | None) -> str:
        return "" if clause == self.name else f"{clause}: "

    def _sentence(self) -> str:
        return next(clause.text for clause in _clauses(self.op) if clause.id == self.name)
