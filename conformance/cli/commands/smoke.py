"""``conformance smoke``: the plainest cases; a failure here blames the adapter.

An adapter says which exceptions its own lines raised, so that any other is one of the framework that it adapts. A plain
case on which the framework raises is set aside, as long as another plain case of its operation passes: whether the
framework may do so is for a run to judge, and no fault of the adapter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from shlex import quote

import click
from rich.markup import escape
from rich.table import Table

from conformance.cli.names import names_option
from conformance.cli.opening import DEFAULT, SANDBOX, opened
from conformance.cli.progress import Progress, print_json, printer
from conformance.runner.outcomes import FAILING, OUTCOMES, OWED, UNJUDGED
from conformance.runner.records.record import CaseRecord
from conformance.runner.smoke import smoke
from conformance.runner.worker.interface import Judgeable
from conformance.specs import OPS


@click.command("smoke")
@names_option("-b", "--backend", "names", default=DEFAULT, show_default="opencl", help="Who is judged.")
@SANDBOX
@click.option("--in-process", is_flag=True, help="Without worker processes, for debugging.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(names: tuple[str, ...], sandbox: bool, in_process: bool, as_json: bool) -> int:
    """Judge the first cases of the deck, and plain ones of what else is claimed, in under a minute."""
    with opened(names, in_process=in_process, sandbox=sandbox) as workers, Progress(quiet=as_json) as progress:
        records = {name: _records(name, worker, progress) for name, worker in workers.items()}
        aside = {name: raised_by_framework(found) for name, found in records.items() if workers[name].ready.adapts}
    told = {name: [r for r in found if r not in aside.get(name, ())] for name, found in records.items()}
    failing = [r for found in told.values() for r in found if _fails(r)]
    if as_json:
        print_json({"backends": records, "set_aside": aside, "status": _status(told)})
        return _status(told)
    seen = [outcome for outcome in OUTCOMES if any(r.outcome == outcome for found in records.values() for r in found)]
    table = Table("backend", *seen)
    for name, found in records.items():
        counts = Counter(record.outcome for record in found)
        table.add_row(escape(name), *(str(counts[outcome]) for outcome in seen))
    console = printer()
    console.print(table)
    for name, found in records.items():
        left = [record for record in found if record.outcome in OWED]
        if left:
            console.print(f"{name}: {len(left)} cases were not judged: {left[0].detail}", markup=False)
    for name, set_aside in aside.items():
        for record in set_aside:
            console.print(
                f"{name}: set aside {record.case}: the framework itself raised: {record.detail}", markup=False
            )
    for line in _advised(records):
        console.print(line, markup=False)
    for record in failing:
        console.print(f"{record.backend}: {record.case} breaks {record.blame}: {record.detail}", markup=False)
    if failing:
        console.print(
            "These cases are asked first: look at the adapter before the implementation; `conformance run` says more."
        )
    for name, worker in workers.items():
        asked = {record.op for record in records[name] if record.outcome not in UNJUDGED or record.outcome in OWED}
        unshown = [op for op in worker.ready.claims if op in OPS and op not in asked]
        if unshown:
            why = next((f"; {r.case}: {r.detail}" for r in records[name] if r.op == unshown[0] and r.detail), "")
            console.print(f"{name}: no plain case of {', '.join(unshown)} lies within its claims{why}", markup=False)
    if _status(told) == 0:
        console.print(f"passed; next: conformance run -b {quote(','.join(records))}", markup=False)
    return _status(told)


def raised_by_framework(found: Sequence[CaseRecord]) -> list[CaseRecord]:
    """Return the cases of an adapter on which what it adapts raised, of operations of which another case passed."""
    shown = {record.op for record in found if record.outcome == "passed" and not record.bare}
    return [record for record in found if record.outcome == "errored" and record.op in shown]


def _records(name: str, worker: Judgeable, progress: Progress) -> list[CaseRecord]:
    found: list[CaseRecord] = []

    def watch(record: CaseRecord) -> None:
        found.append(record)
        progress(record)

    smoke(name, worker, watch)
    return found


def _fails(record: CaseRecord) -> bool:
    """Return whether a *must* is broken: what only should be is for a run to say."""
    return record.outcome in FAILING and record.requirement in (None, "must")


def _advised(records: dict[str, list[CaseRecord]]) -> Iterator[str]:
    """Yield for each backend what it breaks that fails nothing."""
    for name, found in records.items():
        broken = [str(r.blame) for r in found if r.outcome in FAILING and not _fails(r)]
        if broken:
            clauses = ", ".join(dict.fromkeys(broken))
            yield f"{name}: {len(broken)} cases break what only should be ({clauses}), which fails nothing"


def _status(records: dict[str, list[CaseRecord]]) -> int:
    """Return 1 when anything fails, 3 when a backend had no case judged or owes the answer to one, else 0."""
    outcomes = {name: Counter(record.outcome for record in found) for name, found in records.items()}
    if any(_fails(record) for found in records.values() for record in found):
        return 1
    return 0 if all(counts["passed"] and not OWED & counts.keys() for counts in outcomes.values()) else 3
