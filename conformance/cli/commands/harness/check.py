"""``conformance harness check``: whether a program keeps to the worker protocol, before any case is judged."""

from __future__ import annotations

import shlex

import click
import msgspec

from conformance.backends.discovery import find
from conformance.cli.parameter_types import Duration
from conformance.cli.progress import print_json, printer
from conformance.runner.harness.checks import LIMIT, check

FAILED, UNTRIED = 1, 3


@click.command("check", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("words", nargs=-1, required=True, metavar="COMMAND...")
@click.option("--limit", type=Duration(), default=LIMIT, show_default="20s", help="How long an answer may take.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
def command(words: tuple[str, ...], limit: float, as_json: bool) -> int:
    """Try a program on the worker protocol: handshake, order, sizes, files, refusals, floods, ends.

    COMMAND starts it: `conformance harness check ./acme`, or `perl harness.pl`. Options go before it.
    """
    line = words[0] if len(words) == 1 else shlex.join(words)
    spec = find(f"exec:{line.removeprefix('exec:')}")
    found = []
    for one in check(spec.command, limit):
        found.append(one)
        if not as_json:
            printer().print(f"{one.outcome:9}  {one.check}: {one.told or one.says}", markup=False)
    outcomes = {one.outcome for one in found}
    status = FAILED if "failed" in outcomes else UNTRIED if outcomes == {"not tried"} or len(found) == 1 else 0
    if as_json:
        checks = [msgspec.to_builtins(one) for one in found]
        print_json({"command": list(spec.command), "checks": checks, "status": status})
    elif status == 0:
        name = shlex.quote(f"exec:{line}")
        printer().print(f"it keeps to the protocol; next: conformance smoke -b {name}", markup=False)
    return status
