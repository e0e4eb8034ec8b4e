"""``conformance vectors check``: a folder of vectors, made again and compared."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.progress import Progress, printer


@click.command("check")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def command(directory: Path) -> int:
    """Make the vectors of DIR again and compare them byte for byte.

    It ends with 0 where no byte differs, 1 where one does, which is named, and 2 where DIR is no folder of vectors.
    """
    from conformance.vector_files.folder import check

    with Progress() as progress:
        found = check(directory, lambda done, of: progress.tell(f"{done} of {of} vectors"))
    printer().print(
        f"{directory} differs from what this suite makes: {found}" if found else f"{directory}: no byte differs",
        markup=False,
    )
    return 1 if found else 0
