"""``conformance verify``: a bundle checked again, without the product or with it."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

import click

from conformance.cli.opening import located
from conformance.cli.problems import Problem
from conformance.cli.progress import Progress, printer

CONFORMANT = ("conformant", "conformant but for waivers")


class Share(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 only
    """A part of the cases, as ``5%`` or ``0.05``."""

    name = "SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the part; fail on anything that is none above 0 and up to 1."""
        text = str(value).strip()
        try:
            part = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            part = 0.0
        if not 0 < part <= 1:
            self.fail(f"{value!r} is no part of the cases; write 5% or 0.05", param, ctx)
        return part


@click.command("verify")
@click.argument("bundle", type=click.Path(path_type=Path))
@click.option("--keys", "keys_file", type=click.Path(path_type=Path), help="The keys that you trust, a line each.")
@click.option("--product", "product_file", type=click.Path(path_type=Path), help="PRODUCT.toml that it must be about.")
@click.option("--rerun", "share", type=Share(), help="Ask this part of the cases again, as 5%, of the product with -b.")
@click.option("-b", "--backend", "name", help="The product on this machine, for --rerun.")
@click.option("--nonce", help="What chooses the cases of --rerun [default: a random one].")
@click.option(
    "--key", "key_file", type=click.Path(path_type=Path), help="Sign what comes of it, and keep it in BUNDLE."
)
def command(
    bundle: Path,
    keys_file: Path | None,
    product_file: Path | None,
    share: float | None,
    name: str | None,
    nonce: str | None,
    key_file: Path | None,
) -> int:
    """Check BUNDLE: its signatures, digests, seed, list of cases and floor, and its verdict from the records.

    Nothing is taken from the statement that can be recomputed. It ends with 0 where all is in order and the product
    conforms, 1 where it does not conform or a re-run came out otherwise, 2 where the bundle is not in order, 3 where
    something could not be checked.
    """
    from conformance.backends.hidden_rooms import nobody_shown
    from conformance.certificate.bundle import read_bundle
    from conformance.certificate.checks import VerificationTerms, checked
    from conformance.certificate.keys import read_key, read_keys
    from conformance.certificate.product import read_product
    from conformance.certificate.rerun import Rerun, again, chosen
    from conformance.certificate.summary import keep_summary, reproduced_by, summary
    from conformance.runner.worker.answers import Limits
    from conformance.runner.worker.sandbox_trial import why_no_sandbox
    from conformance.runner.worker.workers import Worker

    if (share is None) != (name is None):
        raise click.UsageError("--rerun SHARE and -b BACKEND go together: a part of the cases is asked of the product")
    keys = None if keys_file is None else read_keys(keys_file)
    key = None if key_file is None else read_key(key_file)
    product = None if product_file is None else read_product(product_file)
    console = printer()
    found = read_bundle(bundle)
    for one in checked(found, VerificationTerms(keys, product)):
        console.print(f"{one.name}: {one.told}", markup=False)
    said = found.statement.predicate
    differing: tuple[str, ...] = ()
    repeated: Rerun | None = None
    nonce = nonce or secrets.token_hex(8)
    if share is not None and name is not None:
        spec = located([name])[name]
        sample = chosen(found, share, nonce)
        limits = Limits(sandboxed=not why_no_sandbox())
        with nobody_shown(), Progress() as progress, Worker(spec, limits) as worker:
            repeated = again(found, spec, worker, sample, lambda done: progress.tell(f"{done} asked again"))
        differing = repeated.differing
        what = "digests of observations" if repeated.digests else "verdicts, for no run-to-run equality is guaranteed"
        console.print(
            f"re-run: {repeated.asked} cases by the nonce {nonce}, {len(differing)} came out otherwise ({what})",
            markup=False,
        )
        if repeated.reordered:
            console.print(
                f"  {repeated.reordered} of {repeated.sensitive} order-sensitive reductions belong to other classes: "
                "another implementation, or one whose order varies"
            )
        for each in differing[:10]:
            console.print(f"  {each}", markup=False)
        _files(repeated, console)
    passed = said.verdict in CONFORMANT and not differing
    if key is not None:
        kept = keep_summary(found, summary(found, passed, repeated, nonce), key)
        console.print(f"signed what came of it: {kept}", markup=False)
    others = reproduced_by(found, keys or {})
    # What a vendor chose the words of stands last: it may read like a verdict.
    level = (
        f"reproduced by {len(others)} of {len(keys or {})} listed keys ({', '.join(others)})" if others else "signed"
    )
    console.print(f"{said.verdict}; level: {level}; product: {said.product.name} {said.product.version}", markup=False)
    if said.verdict == "incomplete":
        raise Problem("the certificate is incomplete: a case has no answer, or a claimed operation no case", 3)
    return 0 if passed else 1


def _files(found: Any, console: Any) -> None:
    for what, names in (("other files here than those certified", found.strangers), ("not mapped here", found.absent)):
        if names:
            console.print(f"  {what}: {', '.join(names[:5])}{' and more' if len(names) > 5 else ''}", markup=False)
