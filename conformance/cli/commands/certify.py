"""``conformance certify``: a bundle that anybody can check again."""

from __future__ import annotations

from pathlib import Path

import click

from conformance.cli.opening import CASE_LIMIT, located, output
from conformance.cli.parameter_types import WritablePath
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress, printer

STATUS = {"conformant": 0, "conformant but for waivers": 0, "not conformant": 1, "incomplete": 3}


@click.command("certify")
@click.option("-b", "--backend", "name", required=True, help="Who is certified.")
@click.option("--product", "product_file", type=click.Path(path_type=Path), required=True, help="PRODUCT.toml.")
@click.option("--profile", default="core", show_default=True, help="What is demanded: core or full.")
@click.option("--key", "key_file", type=click.Path(path_type=Path), help="Sign with NAME.key (conformance keygen).")
@click.option(
    "-o", "--output", "directory", type=WritablePath(), required=True, help="The folder of the bundle, a new one."
)
@CASE_LIMIT
def command(
    name: str, product_file: Path, profile: str, key_file: Path | None, directory: Path, case_limit: float
) -> int:
    """Ask a backend every case that the profile, its claims and the product give, each twice, and write a bundle.

    docs/certification.md has the whole process. It ends with 0 where no must clause is broken that is not waived.
    """
    from conformance.backends.hidden_rooms import nobody_shown
    from conformance.certificate.certify import APART, SANDBOXED, certify
    from conformance.certificate.keys import read_key
    from conformance.certificate.product import read_product
    from conformance.certificate.profiles import profile_of
    from conformance.certificate.statement import LONGEST_WORD
    from conformance.runner.outcomes import OWED
    from conformance.runner.worker.answers import Limits
    from conformance.runner.worker.sandbox_trial import why_no_sandbox
    from conformance.runner.worker.workers import Worker

    chosen, product = profile_of(profile), read_product(product_file)
    key = None if key_file is None else read_key(key_file)
    spec = located([name])[name]
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise Problem(f"{directory} is not empty and was left as it is; choose another folder with -o")
    why = why_no_sandbox()
    limits = Limits(case=case_limit, sandboxed=not why)
    with nobody_shown(), output(directory), Progress() as progress, Worker(spec, limits) as worker:
        made = certify(
            spec,
            worker,
            product,
            chosen,
            directory,
            key=key,
            isolation=f"{APART} ({' '.join(why.split())})"[:LONGEST_WORD] if why else SANDBOXED,
            told=lambda done, of: progress.tell(f"{done} of {of} cases asked twice"),
        )
    console = printer()
    said = made.statement.predicate
    outside = f"; outside the claims: {len(said.floor.missing)} of {said.floor.demanded}" if said.floor.missing else ""
    console.print(
        f"{said.verdict}, {said.cases} cases{outside}; product: {said.product.name} {said.product.version}",
        markup=False,
    )
    for clause, count in said.broken.items():
        console.print(f"{clause} is broken: {count} times; {made.texts[clause]}", markup=False)
        if clause in made.cases:
            console.print(f"    conformance replay {directory / made.cases[clause]} -b {name}", markup=False)
    owing = [f"{count} {outcome}" for outcome, count in said.counts.items() if outcome in OWED]
    if owing:
        console.print(f"cases without an answer that holds: {', '.join(owing)}; `conformance run` says more")
    left = made.conclusion.recognised
    if left:
        console.print(f"{len(left)} cases passed as drawn and not in another guise, case {left[0]} first", markup=False)
    console.print(f"bundle: {directory}; next: conformance verify {directory} --keys FILE", markup=False)
    return STATUS[said.verdict] or (1 if left else 0)
