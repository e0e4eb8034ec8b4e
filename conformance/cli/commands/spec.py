"""``conformance spec``: the specification, of everything, or of what a word leads to."""

from __future__ import annotations

import re
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import click

from conformance.cases.whole_file import write_whole
from conformance.cli.parameter_types import WritablePath
from conformance.cli.printing import print_json, printer
from conformance.cli.spec_data import as_data, whole
from conformance.cli.spec_lookup import looked_up
from conformance.cli.spec_search import missing, searched, spoken_of, strong
from conformance.cli.spec_text import show, show_everything, show_sentences
from conformance.specification.kept_answers import kept_answers

SIGNED: Final = ("-inf", "-infinity", "-nan")
"""Words that begin as an option does."""


@click.command("spec", context_settings={"ignore_unknown_options": True})
@click.pass_context
@click.argument("names", nargs=-1, metavar="[WORD]")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@click.option("--search", "words", metavar="WORDS", help="Print the sentences that have all of these words.")
@click.option("--all", "every", is_flag=True, help="Print the clauses that an operation shares with others, too.")
@click.option("--markdown", is_flag=True, help="Write the whole specification as pages to the folder of -o.")
@click.option("-o", "folder", type=WritablePath(), help="The folder of the pages.")
def command(
    context: click.Context,
    names: tuple[str, ...],
    as_json: bool,
    words: str | None,
    every: bool,
    markdown: bool,
    folder: Path | None,
) -> None:
    """Print the specification: of everything, or of a word.

    A word is an operation, a clause, its source or a rule of one (multi.R3), a framework's name for something (psum,
    ReduceOp.AVG, MPI_IN_PLACE), a dtype, or what people ask about (deadlock, uneven, NaN).
    """
    _refuse_options(context, names)
    if words is not None:
        words, names = " ".join((words, *names)), ()
    name = " ".join(names) if names else None
    if name is not None and not name.strip():
        raise click.UsageError("an empty word leads nowhere; without a word everything is printed")
    if sum((name is not None, words is not None, markdown)) > 1:
        raise click.UsageError("give a name, --search or --markdown: one of the three")
    if markdown != (folder is not None):
        raise click.UsageError("--markdown writes pages to the folder of -o: give both or neither")
    if folder is not None:
        _write(folder)
        return
    answers = kept_answers(_answers)
    if words is not None:
        _search(answers, words, as_json=as_json)
    elif name is None:
        _everything(answers, as_json=as_json)
    else:
        try:
            kind, found = looked_up(answers, name)
        except click.UsageError:
            # A question of several words that nothing is called by, or a word of a few sentences: what speaks of them.
            if not (" " in name or spoken_of(answers, name)):
                raise
            _search(answers, name, as_json=as_json)
            return
        if as_json:
            print_json(as_data(answers, kind, found))
        else:
            show(printer(), answers, kind, found, whole=every)


def _refuse_options(context: click.Context, names: tuple[str, ...]) -> None:
    """Refuse an option that there is not; what begins with a sign and is a number or ``-inf`` is a word."""
    for name in names:
        if re.fullmatch(r"-(?!-)[A-Za-z]?|--.*|-[A-Za-z]+", name) and name.casefold() not in SIGNED:
            known = [flag for each in context.command.params for flag in each.opts if flag.startswith("-")]
            raise click.NoSuchOption(name, possibilities=get_close_matches(name, known), ctx=context)


def _answers() -> dict[str, Any]:
    from conformance.qualification.breaking import mutants_by_clause
    from conformance.specification.answers import answers

    found = answers()
    for id, names in mutants_by_clause().items():
        found["clauses"].get(id, {})["mutants"] = names
    return found


def _write(folder: Path) -> None:
    from conformance.cli.opening import output
    from conformance.specification.document import pages

    with output(folder):
        for file, text in pages().items():
            write_whole(folder / file, text.encode())
            click.echo(f"wrote {folder / file}")


def _everything(answers: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(whole(answers))
        return
    console = printer()
    # The whole specification is longer than any screen.
    with console.pager() if console.is_terminal else nullcontext():
        show_everything(console, answers)


def _search(answers: dict[str, Any], words: str, *, as_json: bool) -> None:
    found = searched(answers, words)
    whole = bool(found) and set(strong(answers, words)) <= set(found[0].has)
    if as_json:
        print_json({"sentences": [each._asdict() for each in found]})
    else:
        show_sentences(printer(), found)
    if not whole:
        raise click.UsageError(missing(answers, words, found))
