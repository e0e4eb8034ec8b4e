"""``conformance qualify``: the suite against broken backends, written and automatic, and against legal variants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec
from rich.console import Console
from rich.table import Table

from conformance.backends.base import Backend
from conformance.cli.names import checked, names_option
from conformance.cli.parameter_types import WritablePath
from conformance.cli.progress import Progress, print_json, printer
from conformance.qualification.auto.campaign import Profile, qualify_auto
from conformance.qualification.auto.corpus import EVERY_FAMILY, FAMILIES, MOST_MUTANTS, FamilyName
from conformance.qualification.auto.outcome import Auto, Row
from conformance.qualification.auto.source.families import ENGINE, REFERENCE, RUNNER
from conformance.qualification.auto.source.judge_family import JUDGE
from conformance.qualification.changed_references import CHANGED_REFERENCES
from conformance.qualification.frozen.campaign import judged_by_observations
from conformance.qualification.kill import Mutant
from conformance.qualification.mutant_module import load_mutants
from conformance.qualification.mutants import mutants
from conformance.qualification.mutants.corpus import CORPUS
from conformance.qualification.qualify import Qualification, qualify
from conformance.qualification.qualify_variants import Variant, judged_variants
from conformance.qualification.row_file import AUTO, WRITTEN, Rows, head, rows_of
from conformance.qualification.schedule_mutants import schedule_mutants
from conformance.qualification.standing_motifs import fallen_motifs
from conformance.qualification.variants import variants
from conformance.qualification.violations import violations
from conformance.runner.dialects import operations
from conformance.runner.dialects import suites as every_suite
from conformance.runner.plan import EXAMPLES
from conformance.specs import OPS, SUITES

R = TypeVar("R", bound=msgspec.Struct)

PARTS: Final = ("mutants", "variants", "auto")

CHANGED: Final[tuple[FamilyName, ...]] = ("reference", "engine")
"""The families that change code, and that drawn cases judge."""

DIES: Final = 0.95
"""The share of a family that must die, of those neither equivalent nor void, for the status to be 0."""

DIES_UNSEEN: Final = 0.90
"""The same of the half whose survivors are not named."""

EARLIEST: Final = 12
"""Draws of every suite and operation in which --every-kill looks for more kills: all would take minutes a mutant."""


@click.command("qualify")
@click.option("--mutants", "module", help="Module of mutants, instead of the suite's own.")
@click.option("--auto", type=int, help="Make so many automatic mutants too.")
@names_option(
    "--family",
    "families",
    help="Only automatic mutants of these families [default: all but runner, which the tests of a clone judge, and "
    "judge, which frozen observations do].",
)
@names_option("--code", "code", help="Only changes of modules with one of these words in their names.")
@click.option("--only", type=click.Choice(PARTS), help="Judge only these.")
@names_option("--suite", "suites", help="Only cases of these suites [default: all].")
@names_option("--op", "ops", help="Only cases of these operations.")
@click.option("--examples", type=click.IntRange(1), default=EXAMPLES, show_default=True, help="Draws an operation.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Same seed, same cases and mutants.")
@click.option("-o", "--output", "directory", type=WritablePath(), help="Folder for the rows, as they come.")
@click.option("--resume", is_flag=True, help="Go on with the rows in the folder of -o.")
@click.option("--in-process", is_flag=True, help="Without worker processes: quicker, and as good for honest mutants.")
@click.option("--jobs", type=click.IntRange(1), help="Processes for automatic mutants [default: one a core].")
@click.option("--every-kill", is_flag=True, help="Look for a kill in every suite and operation, not the first alone.")
@click.option("--json", "as_json", is_flag=True, help="Print the kill matrix as JSON.")
def command(as_json: bool, **given: Any) -> int:
    """Show that every mutant is killed, and by the clause it was made to break, and that no variant is refused."""
    asked = _asked(given)
    # Before any file is begun: what cannot be loaded leaves none.
    chosen = load_mutants(asked.module) if asked.module else (*mutants(), *schedule_mutants(), *CHANGED_REFERENCES)
    rows, made_rows = _rows(asked, "mutants", Mutant, WRITTEN), _rows(asked, "auto", Row, AUTO)
    rows.begin()
    made_rows.begin()
    with Progress(quiet=as_json) as progress:
        found = _written(asked, chosen, rows, progress)
        judged = _variants(asked)
        made = _made(asked, made_rows, progress)
    fallen = fallen_motifs() if asked.module is None and asked.wants("mutants") else ()
    found = msgspec.structs.replace(found, variants=judged, auto=made, fallen_motifs=fallen)
    if as_json:
        print_json(found)
    else:
        _show(printer(), found)
    return _status(found)


@dataclass(frozen=True)
class _Asked:
    """What the options of the command say."""

    module: str | None
    auto: int | None
    families: tuple[FamilyName, ...]
    code: tuple[str, ...]
    only: str | None
    suites: tuple[str, ...]
    ops: tuple[str, ...]
    examples: int
    seed: int
    directory: Path | None
    resume: bool
    in_process: bool
    jobs: int | None
    every_kill: bool

    def wants(self, part: str) -> bool:
        """Return whether a part of the qualification is to be done."""
        return self.only in (None, part)

    @property
    def programs(self) -> tuple[str, ...]:
        """Return the suites of programs."""
        return tuple(name for name in self.suites if name in SUITES)

    @property
    def collectives(self) -> tuple[str, ...]:
        """Return the operations of programs."""
        return tuple(op for op in self.ops if op in OPS)


def _asked(given: Mapping[str, Any]) -> _Asked:
    """Return what is asked; raise ``UsageError`` for what contradicts itself or is not there."""
    suites = checked("suite", given["suites"], every_suite()) or tuple(every_suite())
    ops = checked("operation", given["ops"], operations()) or tuple(operations())
    families = checked("family", given["families"], EVERY_FAMILY) or (CHANGED if given["code"] else FAMILIES)
    asked = _Asked(**{**given, "suites": suites, "ops": ops, "families": families})
    if asked.resume and asked.directory is None:
        raise click.UsageError("--resume needs the folder of the rows to go on with: -o DIR")
    if asked.only == "auto" and asked.auto is None:
        raise click.UsageError("--only auto needs a number of mutants: --auto N")
    if given["families"] and asked.auto is None:
        raise click.UsageError("--family needs a number of automatic mutants: --auto N")
    if asked.code:
        _check_code(asked)
    if asked.auto is not None and not 1 <= asked.auto <= MOST_MUTANTS:
        raise click.UsageError(f"--auto {asked.auto}: there are 1 to {MOST_MUTANTS} automatic mutants of one seed")
    if asked.module is not None and not asked.module.strip():
        raise click.UsageError("--mutants names nothing; a module, as in package.module, or a path to a .py file would")
    return asked


def _check_code(asked: _Asked) -> None:
    """Raise ``UsageError`` where ``--code`` names nothing that may be changed."""
    if asked.auto is None:
        raise click.UsageError("--code needs a number of automatic mutants: --auto N")
    if "conditional" in asked.families:
        raise click.UsageError("--code: the family conditional changes no code; --family reference,engine does")
    modules = [
        name
        for family in (REFERENCE, ENGINE, RUNNER, JUDGE)
        if family.name in asked.families
        for name in family.changed
    ]
    unknown = [word for word in asked.code if not any(word in name for name in modules)]
    if unknown:
        raise click.UsageError(f"--code: no module that is changed has {unknown[0]!r} in its name, as {modules[0]} has")


def _rows(asked: _Asked, part: str, kind: type[R], file: str) -> Rows[R]:
    """Return the rows of a part of the qualification; they are kept nowhere where none are to be made."""
    mutants = " ".join((f"auto {asked.auto}", *asked.code)) if part == "auto" else asked.module or ""
    wanted = asked.wants(part) and (part != "auto" or asked.auto is not None)
    this = head(mutants, asked.seed, asked.examples, asked.suites, asked.ops)
    return rows_of(asked.directory if wanted else None, this, kind, file, resume=asked.resume)


def _written(asked: _Asked, chosen: Sequence[type[Backend]], rows: Rows[Mutant], progress: Progress) -> Qualification:
    """Judge the written mutants."""

    def watch(mutant: Mutant) -> None:
        rows.write(mutant)
        what = mutant.problem or f"{mutant.clause or 'survived'} after {mutant.cases} cases"
        progress.tell(f"{mutant.name}: {what}", now=True)

    found = Qualification(mutants=(), survivors=(), seed=asked.seed, examples=asked.examples)
    if asked.wants("mutants"):
        found = qualify(
            chosen, examples=asked.examples, seed=asked.seed, suites=asked.programs, ops=asked.collectives,
            in_process=asked.in_process, violated=() if asked.module else violations(), known=rows.known, watch=watch,
        )  # fmt: skip
    uncovered = () if asked.module else tuple(report for report in CORPUS if report.missing)
    return msgspec.structs.replace(found, uncovered=uncovered)


def _variants(asked: _Asked) -> tuple[Variant, ...]:
    """Judge the legal variants, unless somebody's own mutants are asked about."""
    if asked.module or not asked.wants("variants"):
        return ()
    return tuple(
        judged_variants(
            variants(), examples=asked.examples, seed=asked.seed, suites=asked.programs, ops=asked.collectives
        )
    )


def _made(asked: _Asked, rows: Rows[Row], progress: Progress) -> Auto | None:
    """Make automatic mutants and judge them."""
    if asked.auto is None or not asked.wants("auto"):
        return None

    def watch(row: Row) -> None:
        rows.write(row)
        progress.tell(f"{row.name}: {row.fate} after {row.cases} cases", now=True)

    profile = Profile(asked.seed, asked.examples, asked.suites, asked.ops)
    made, _ = qualify_auto(
        asked.auto, profile, families=asked.families, code=asked.code, more=EARLIEST if asked.every_kill else 0,
        jobs=asked.jobs or 0, known=rows.known, watch=watch, tell=lambda line: progress.tell(line, now=True),
        judged=judged_by_observations,
    )  # fmt: skip
    return made


def _status(found: Qualification) -> int:
    """Return 1 when a mutant or many automatic ones survived, a motif fell or a variant is refused; 3 if unjudged."""
    if found.survivors or found.fallen_motifs or any(variant.refused for variant in found.variants):
        return 1
    if found.auto is not None:
        low = any(counts.killed_share < DIES for counts in found.auto.families.values())
        if low or found.auto.unseen.killed_share < DIES_UNSEEN:
            return 1
    return 3 if found.problems else 0


def _show(console: Console, found: Qualification) -> None:
    if found.mutants:
        table = Table("mutant", "made to break", "killed by", "cases", "seconds", "the mistake")
        for mutant in found.mutants:
            killer = (mutant.clause or "-") if mutant.killed else f"SURVIVED ({mutant.clause or 'nothing'})"
            said = "NOT REACHED" if not mutant.reached else "NOT JUDGED"
            killer = f"{said} ({mutant.problem.removeprefix('not reached: ')})" if mutant.problem else killer
            table.add_row(
                mutant.name, mutant.breaks or "-", killer, str(mutant.cases), f"{mutant.seconds:.2f}", mutant.doc
            )
        console.print(table)
        killed = sum(mutant.killed for mutant in found.mutants)
        exact = sum(mutant.exact for mutant in found.mutants)
        console.print(f"{killed} of {len(found.mutants)} mutants killed, {exact} of them by a clause of their own")
        if found.not_reached:
            console.print(f"{len(found.not_reached)} not reached: no case has what they change, holes of the domain")
        if len(found.problems) > len(found.not_reached):
            console.print(f"{len(found.problems) - len(found.not_reached)} could not be judged")
    for said in found.fallen_motifs:
        console.print(said, markup=False)
    if found.variants:
        refused = [variant for variant in found.variants if variant.refused]
        for variant in refused:
            for way, case in variant.refused.items():
                console.print(f"variant {variant.name} REFUSED by {way} on {case}", markup=False, soft_wrap=True)
        console.print(f"{len(found.variants) - len(refused)} of {len(found.variants)} variants accepted")
        for variant in found.variants:
            console.print(f"  {variant.name}: differs on {variant.differs} of {variant.cases} cases", markup=False)
    if found.auto is not None:
        _show_auto(console, found.auto)


def _show_auto(console: Console, auto: Auto) -> None:
    table = Table(
        "automatic mutants", "made", "killed", "survived", "not reached", "equivalent", "void", "share killed"
    )
    parts = {**auto.families, "named half": auto.seen, "counted half": auto.unseen}
    for name, counts in parts.items():
        numbers = (counts.mutants, counts.killed, counts.survived, counts.not_reached, counts.equivalent, counts.void)
        table.add_row(name, *map(str, numbers), f"{counts.killed_share:.1%}")
    console.print(table)
    other = sum(counts.rescheduled for counts in auto.families.values())
    if other:
        console.print(f"{other} of the equivalent ones make other schedules than the unchanged code, and right ones")
    for control, state in auto.controls.items():
        if state != "passed":
            console.print(f"{control}: void, for the unchanged code fails {state}", markup=False)
    for each in (*auto.survivors, *auto.holes):
        console.print(f"{each.fate.replace('_', ' ')}: {each.name}\n{each.diff}\n", markup=False)
