"""Dotted names of frameworks: ``jax.lax.psum``, ``dist.all_reduce``, ``comm.Allreduce``, and those of nobody known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import click

from conformance.cli.names import unlike

Data = dict[str, Any]

IMPORTED_AS: Final = {
    "jnp": ("jax",), "dist": ("torch",), "c10d": ("torch",), "funcol": ("torch",), "torch": ("torch", "dtensor"),
    "mx": ("mlx",), "mpi4py": ("mpi",), "comm": ("mpi",), "mhlo": ("stablehlo",), "hlo": ("stablehlo",),
}  # fmt: skip
"""What people have before a function of a framework, beside its own name and the modules that its rows name."""

DTYPES: Final = ("np", "numpy", "dtypes", "ml_dtypes")
"""Other modules that have dtypes, which are everywhere the same."""

SHARED: Final = ("numpy",)
"""Modules that rows name and that are another library's own name too."""


def normal(word: str) -> str:
    """Return a word without its case, and without what is neither a letter nor a digit, but a signed number whole."""
    if word[:1] in ("-", "+") and word[1:].replace(".", "").isdecimal():
        return word
    return "".join(each for each in word.casefold() if each.isalnum())


def by_path(answers: Data, name: str) -> list[Data]:
    """Return the entries of a longer or shorter path to a function than documents have, of its framework alone.

    Raise ``UsageError`` for what stands before the first dot where no framework is called so, and for a function that
    the table does not have of its framework, with the nearest.
    """
    head, _, rest = name.partition(".")
    dtypes = [each for each in _named(answers, normal(name.rpartition(".")[2])) if each["kind"] == "dtype"]
    if dtypes and (normal(head) in _heads(answers) or head in DTYPES):
        return dtypes
    if rest.startswith("C") and rest[1:].isdigit():
        return []
    frameworks = _heads(answers).get(normal(head), ())
    if not frameworks:
        _refuse_number(answers, head, name)
        _refuse_head(answers, head, name)
    for tail in _tails(rest):
        for prefix in ("", *frameworks):
            found = [each for each in _named(answers, normal(prefix + tail)) if _framework(each) in frameworks]
            if found:
                return found
    mine = [each for each in answers["entries"] if _framework(each) in frameworks]
    listed = [word for each in mine for word in each["words"]]
    listed += [f"{head}.{str(each['title']).rpartition('.')[2]}" for each in mine]
    said = unlike(f"name of {' or '.join(frameworks)}", name, listed)
    raise click.UsageError(f"{said} (`conformance spec {frameworks[0]}` lists them)")


def _refuse_number(answers: Data, head: str, name: str) -> None:
    """Refuse what begins as a clause or a rule of a source does, and is none: ``all_reduce.C``, ``multi.R999``."""
    known = [id for id in (*answers["clauses"], *answers["rules"]) if id.partition(".")[0] == head.casefold()]
    if known:
        known.sort(key=lambda each: int(each.rpartition(".")[2][1:]))
        listed = f"there are {known[0]} to {known[-1]}" if len(known) > 1 else f"there is {known[0]}"
        raise click.UsageError(f"{unlike('clause or rule', name, known)} ({listed})")


def _refuse_head(answers: Data, head: str, name: str) -> None:
    """Refuse a name of a library that is outside, whose functions may mean other things than ours, or of nobody."""
    if any(each["kind"] == "outside" for each in _named(answers, normal(head))):
        said = f"unknown operation, clause or source {name!r}; names of {head} are not compared"
        raise click.UsageError(f"{said} (`conformance spec {head}` says why)")
    clauses = {id.partition(".")[0]: None for id in answers["clauses"]}
    heads = {each["framework"]: None for each in answers["names"]} | clauses
    said = unlike(f"module in {name!r}:", head, [*heads, *_heads(answers)])
    last = name.rpartition(".")[2]
    ours = f"; `conformance spec {last}` has the word" if normal(last) in answers["words"] else ""
    raise click.UsageError(f"{said}{ours}")


def _heads(answers: Data) -> dict[str, Sequence[str]]:
    """Return the frameworks that each first part of a path can be of."""
    found: dict[str, Sequence[str]] = {normal(key): value for key, value in IMPORTED_AS.items()}
    for row in answers["names"]:
        for head in (row["framework"], *row["name"].split(".")[:-1]):
            if head not in SHARED:
                known = found.setdefault(normal(head), ())
                found[normal(head)] = (*known, *(() if row["framework"] in known else (row["framework"],)))
    return found


def _named(answers: Data, word: str) -> list[Data]:
    return [answers["entries"][number] for number in answers["words"].get(word, ())]


def _framework(entry: Data) -> str:
    return str(entry["title"]).partition(": ")[0] if entry["kind"] == "name" else ""


def _tails(path: str) -> Iterator[str]:
    parts = path.split(".")
    yield from (".".join(parts[at:]) for at in range(len(parts)))
