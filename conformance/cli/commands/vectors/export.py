"""``conformance vectors export``: the deck as JSON and safetensors."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.names import checked, names_option
from conformance.cli.opening import output
from conformance.cli.parameter_types import WritablePath
from conformance.cli.progress import Progress, printer


@click.command("export")
@click.argument("directory", metavar="DIR", type=WritablePath())
@names_option("--op", "ops", help="Only cases of these operations.")
@names_option("--suite", "suites", help="Only cases of these suites.")
def command(directory: Path, ops: tuple[str, ...], suites: tuple[str, ...]) -> int:
    """Write the deck to DIR, a new folder: programs, inputs, which results are right, and why each case is there.

    docs/vectors.md says how to read them. The same suite writes the same bytes.
    """
    from conformance.vector_files.folder import export
    from conformance.vectors.deck import deck

    cases = deck().cases
    ops = checked("operation of the deck", ops, sorted({one.op for one in cases}))
    suites = checked("suite of the deck", suites, sorted({one.suite for one in cases}))
    with output(directory), Progress() as progress:
        total = export(directory, ops, suites, lambda done, of: progress.tell(f"{done} of {of} vectors"))
    printer().print(f"wrote {directory}: {total / 1e6:.1f} MB; docs/vectors.md says how to read them", markup=False)
    return 0
