"""``python -m conformance.qualification.deck STEP FOLDER``: make the deck, a step at a time, going on from disk.

``all`` does one step after the other; ``topup`` makes the deck that is there fit a specification that went on.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import conformance
from conformance.qualification.deck.candidate import FAMILIES, CampaignError
from conformance.qualification.deck.making import Making
from conformance.qualification.deck.steps import ALONE, STEPS
from conformance.qualification.mutant_module import MutantError
from conformance.vectors.deck_error import DeckError


def main(arguments: list[str]) -> int:
    """Do one step, or all; return 0, 2 where something that was asked for cannot be, and 3 where a campaign was cut."""
    parser = argparse.ArgumentParser(prog="python -m conformance.qualification.deck", description=__doc__)
    parser.add_argument(
        "step", choices=(*STEPS, *ALONE, "all"), help="what to do; all does one after the other, topup makes a deck fit"
    )
    parser.add_argument("folder", type=Path, help="where the campaign is kept")
    parser.add_argument("--seeds", default="11,12", help="seeds of the draws, with commas between them")
    parser.add_argument(
        "--examples", type=int, default=60, help="draws of each operation, of dialects but collectives 5 times as many"
    )
    parser.add_argument("--families", default=",".join(FAMILIES.values()), help="families of cases, with commas")
    parser.add_argument("--jobs", type=int, default=1, help="processes that ask mutants")
    parser.add_argument("--tries", type=int, default=20, help="smaller cases that are tried for a chosen one")
    parser.add_argument("--page", type=Path, help="a page that gets the curves, as docs/deck.md")
    parser.add_argument(
        "--into", type=Path, default=Path(conformance.__file__).parent / "vectors", help="where the deck goes"
    )
    parser.add_argument("--beside", type=Path, help="the folder of another deck, whose cases a top-up has too")
    given = parser.parse_args(arguments)
    families = tuple(given.families.split(","))
    unknown = sorted(set(families) - set(FAMILIES.values()))
    if unknown or not given.seeds.replace(",", "").isdigit() or not hasattr(os, "fork"):
        what = (
            f"family {unknown[0]!r}" if unknown else f"seeds {given.seeds!r}" if hasattr(os, "fork") else "this system"
        )
        print(
            f"error: {what}: families are {', '.join(FAMILIES.values())}, seeds numbers, and mutants need fork",
            file=sys.stderr,
        )
        return 2
    if given.beside is not None and given.step != "topup":
        print(f"error: --beside {given.beside}: only the step topup takes it, not {given.step}", file=sys.stderr)
        return 2
    making = Making(
        given.folder,
        given.into,
        tuple(map(int, given.seeds.split(","))),
        given.examples,
        families,
        given.jobs,
        given.tries,
        given.page,
        given.beside,
    )
    try:
        for step in STEPS if given.step == "all" else (given.step,):
            (STEPS | ALONE)[step](making)
    except CampaignError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    except (DeckError, MutantError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
