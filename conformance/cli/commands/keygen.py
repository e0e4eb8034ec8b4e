"""``conformance keygen``: a key to sign certificates with."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.opening import output
from conformance.cli.parameter_types import WritablePath
from conformance.cli.progress import printer


@click.command("keygen")
@click.argument("name")
@click.option("-o", "--output", "directory", type=WritablePath(), default=Path(), help="Folder [default: this one].")
def command(name: str, directory: Path) -> int:
    """Write NAME.key, to be kept secret, and NAME.pub, a line for the lists of those who trust it."""
    from conformance.certificate.keys import make_key

    with output(directory):
        private, public = make_key(name, directory)
    printer().print(f"wrote {private}, to be kept secret, and {public}, a line for lists of keys", markup=False)
    return 0
