"""``conformance sign``: another signature on a bundle."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.progress import printer


@click.command("sign")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--key", "key_file", type=click.Path(path_type=Path), required=True, help="Whose signature: NAME.key.")
def command(bundle: Path, key_file: Path) -> int:
    """Add a signature to the statement of BUNDLE; whoever signed before stays."""
    from conformance.certificate.bundle import ENVELOPE, open_envelope, write_envelope
    from conformance.certificate.envelope import signed
    from conformance.certificate.keys import read_key
    from conformance.certificate.statement import read_statement

    envelope = open_envelope(bundle)
    said = read_statement(envelope.content).predicate
    found = signed(envelope, read_key(key_file))
    write_envelope(found, bundle / ENVELOPE)
    printer().print(
        f"signed that {said.product.name} {said.product.version} is {said.verdict}, in the profile {said.profile}, of "
        f"{said.cases} cases under the root {said.root[:16]}; {bundle} has {len(found.signatures)} signatures",
        markup=False,
    )
    return 0
