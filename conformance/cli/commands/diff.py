"""``conformance diff``: what differs between two runs, and why."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from conformance.cases.whole_file import write_into
from conformance.cli.parameter_types import Duration, WritablePath
from conformance.history.changes import compare
from conformance.history.reading import read_outline

if TYPE_CHECKING:
    from conformance.history.causes.cause import Cause
    from conformance.history.causes.of_versions import Trial
    from conformance.history.causes.search import Laboratories
    from conformance.history.changes import Comparison

DEFAULT_LIMIT = 20.0


@click.command("diff")
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@click.option("--replay", "replaying", is_flag=True, help="Replay cases here to find causes that logs do not show.")
@click.option("--bisect", "bisecting", is_flag=True, help="Try the versions of packages between the runs as well.")
@click.option("--with", "further", multiple=True, metavar="REQUIREMENT", help="What every environment has too.")
@click.option("--environments", "folder", type=WritablePath(), help="Where they are kept  [default: runs/environments]")
@click.option("--times", type=click.IntRange(2, 1000), default=10, show_default=True, help="Replays of a case.")
@click.option("--case-limit", type=Duration(), default=DEFAULT_LIMIT, help="Of a replay  [default: 20s]")
@click.option("--sandbox", is_flag=True, help="Replay in a sandbox, as `conformance run --sandbox` does.")
@click.option("--in-process", is_flag=True, help="Replay without worker processes, for debugging.")
@click.option("--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "-o", "--output", "file", type=WritablePath(), help="Write it to this file too, as its ending says: .md, .json."
)
def command(
    before: Path,
    after: Path,
    replaying: bool,
    bisecting: bool,
    further: tuple[str, ...],
    folder: Path | None,
    times: int,
    case_limit: float,
    sandbox: bool,
    in_process: bool,
    form: str,
    as_json: bool,
    file: Path | None,
) -> int:
    """Tell what runs A and B say differently, and why; end with 1 where something regressed.

    A case that B has no record of is never a pass: it is removed, or was never shown. The cause is found by
    experiment: the same observation and another verdict is the judge's; with --replay another observation is replayed
    here, as often as it takes to tell chance from change; with --bisect it is run with the versions of packages between
    those of A and B, each in an environment of its own. What no experiment settles is unexplained.
    """
    comparison = compare(read_outline(before), read_outline(after))
    with ExitStack() as stack:
        asked: Laboratories = _unasked
        trial = None
        if replaying:
            from conformance.cli.laboratories import laboratories

            asked = stack.enter_context(laboratories(case_limit=case_limit, in_process=in_process, sandbox=sandbox))
        if bisecting:
            from conformance.cli.progress import Progress
            from conformance.cli.version_trials import ENVIRONMENTS, version_trials

            progress = stack.enter_context(Progress(quiet=as_json or form == "json"))
            trial = version_trials(folder or ENVIRONMENTS, further, case_limit, progress)
        found = _causes(comparison, times, asked, trial)
    _print(comparison, found, "json" if as_json else form, file)
    return comparison.status


def causes_of(comparison: Comparison) -> dict[tuple[str, str], Cause]:
    """Return the causes that logs alone prove."""
    return _causes(comparison, 0, _unasked)


def _unasked(name: str) -> None:
    """Give no laboratory."""


def _causes(
    comparison: Comparison, times: int, asked: Laboratories, trial: Trial | None = None
) -> dict[tuple[str, str], Cause]:
    if not comparison.changes:
        return {}
    from conformance.history.causes.search import causes

    today = datetime.now(UTC).date()
    wanted = [change for change in comparison.changes if change.kind != "new"]
    return causes(comparison, wanted, today, asked, times, trial)


def _print(comparison: Comparison, found: dict[tuple[str, str], Cause], form: str, file: Path | None) -> None:
    print(_text(comparison, found, form), end="")
    if file is not None:
        written = {".md": "markdown", ".json": "json"}.get(file.suffix, "text")
        file.parent.mkdir(parents=True, exist_ok=True)
        write_into(file, _text(comparison, found, written).encode())


def _text(comparison: Comparison, found: dict[tuple[str, str], Cause], form: str) -> str:
    if form == "json":
        import msgspec

        from conformance.history.formats.data import as_data

        return msgspec.json.format(msgspec.json.encode(as_data(comparison, found))).decode() + "\n"
    if form == "markdown":
        from conformance.history.formats.comment import as_comment

        return as_comment(comparison, found)
    from conformance.history.formats.lines import as_lines

    return "\n".join(as_lines(comparison, found)) + "\n"
