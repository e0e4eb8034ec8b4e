"""What a word of ``conformance spec`` leads to: an operation, a clause, a source, a name, or an entry of the index."""

from __future__ import annotations

from typing import Any, Final

import click

from conformance.cli.names import unlike
from conformance.cli.spec_paths import by_path, normal
from conformance.cli.spec_search import asked

Data = dict[str, Any]

FEW: Final = 8
"""As many names of a prefix are listed in a line."""

SHORTEST: Final = 3
"""A shorter prefix is none."""

TITLE: Final = 3
"""As many phrases weighs the title of a topic."""

ENOUGH: Final = 0.4
"""The share of the best topic's phrases that others need: *overflow* is in 10 of infinity, and in 2 of mean."""


def looked_up(answers: Data, name: str) -> tuple[str, Any]:
    """Return the kind of what a name leads to (``operation``, ``clause``, ``source``, ``rule``, ``entries``), and that.

    An operation goes with the other entries that the name leads to, and whether the name is its own. Raise
    ``UsageError`` for a name that leads nowhere, or to several things by its beginning.
    """
    found = _exact(answers, name)
    if found is None and "." in name and " " not in name:
        # A longer path to a function than those that frameworks document, jax.lax.psum, or that of nobody we know.
        found = _led_to(answers, by_path(answers, name))
    found = found or _inside(answers, name) or _by_beginning(answers, name)
    if found is None:
        raise click.UsageError(_nothing(answers, name))
    return found


def _exact(answers: Data, name: str) -> tuple[str, Any] | None:
    spelled = {normal(op): op for op in answers["operations"]}
    if name in answers["aliases"] or normal(name) in spelled:
        op = answers["aliases"].get(name) or spelled[normal(name)]
        return "operation", (op, _beside(answers, name, op), normal(name) == normal(op))
    for kind in ("clause", "source", "rule"):
        known = answers[f"{kind}s"]
        found = name if name in known else next((id for id in known if id.casefold() == name.casefold()), None)
        if found is not None:
            return kind, known[found]
    numbers = answers["words"].get(normal(name)) or answers["words"].get(normal(name).removesuffix("s"))
    return _led_to(answers, [answers["entries"][number] for number in numbers or ()])


def _led_to(answers: Data, entries: list[Data]) -> tuple[str, Any] | None:
    """Return the one operation that entries lead to, with what else they are, or the entries; ``None`` for none."""
    ops = list(dict.fromkeys(op for each in entries for op in _operation_of(answers, each)))
    if len(ops) == 1:
        return "operation", (ops[0], [each for each in entries if each["kind"] != "operation"], False)
    return ("entries", entries) if entries else None


def _operation_of(answers: Data, entry: Data) -> list[str]:
    """Return the operation that an entry is, or that the first row of a name has as our form."""
    if entry["kind"] == "operation":
        return [entry["title"]]
    if entry["kind"] != "name":
        return []
    framework, name = entry["title"].split(": ", 1)
    rows = [row["operation"] for row in answers["names"] if (row["framework"], row["name"]) == (framework, name)]
    return [op for op in rows[:1] if op in answers["operations"]]


def _beside(answers: Data, name: str, op: str) -> list[Data]:
    """Return what a name leads to beside its operation; the operation's own name stands for itself first."""
    numbers = answers["words"].get(normal(name), ())
    found = [answers["entries"][number] for number in numbers]
    return [each for each in found if each["title"] != op or each["kind"] != "operation"]


def _inside(answers: Data, name: str) -> tuple[str, Any] | None:
    """Return the topics that have every word of ``name`` among the words of what leads to them, the best first.

    Topics that one further phrase alone leads to are left out where others are called so, or have it in more of theirs.
    """
    wanted = {_stem(word) for word in name.split()}
    if "." in name or "_" in name or any(len(word) < SHORTEST for word in wanted):
        return None
    topics = [each for each in answers["entries"] if each["kind"] in ("topic", "outside")]
    held = [(_held(wanted, each), each) for each in topics]
    most = max((count for count, _ in held), default=0)
    best = sorted((pair for pair in held if pair[0] > most * ENOUGH), key=lambda pair: -pair[0])
    return ("entries", [each for _, each in best]) if most else None


def _held(wanted: set[str], entry: Data) -> int:
    """Return in how many phrases a topic has all words, its title as several; 1 where no phrase has all; 0 for none."""
    phrases = [{_stem(word) for word in phrase.replace("-", " ").split()} for phrase in entry["words"]]
    if not wanted <= set().union(*phrases):
        return 0
    whole = sum(wanted <= phrase for phrase in phrases)
    return max(1, whole + (TITLE if wanted <= phrases[0] else 0))


def _stem(word: str) -> str:
    return normal(word).removesuffix("s")


def _by_beginning(answers: Data, name: str) -> tuple[str, Any] | None:
    """Return what the one word that begins with ``name`` leads to; refuse a beginning of several."""
    begin = normal(name)
    if len(begin) < SHORTEST or "." in name:
        return None
    words = [word for word in answers["words"] if word.startswith(begin)]
    titles: dict[str, str] = {}
    for word in words:
        for number in answers["words"][word]:
            entry = answers["entries"][number]
            titles.setdefault(next(each for each in entry["words"] if normal(each) == word), word)
    if len(words) == 1:
        return _exact(answers, words[0])
    if not titles:
        return None
    most = sorted(titles, key=lambda each: (len(each), each))
    more = f" and {len(most) - FEW} more" if len(most) > FEW else ""
    raise click.UsageError(f"{name!r} is the beginning of several words: {', '.join(most[:FEW])}{more}")


def _nothing(answers: Data, name: str) -> str:
    listed = [word for entry in answers["entries"] for word in entry["words"]]
    known = [*answers["operations"], *answers["aliases"], *answers["clauses"], *answers["sources"], *listed]
    said = unlike("operation, clause or source", name, dict.fromkeys(known))
    wanted = asked(name)
    holding = sum(all(word in " ".join(each).casefold() for word in wanted) for each in answers["sentences"])
    found = f"; --search {name} finds {holding} sentences" if holding else ""
    return said + found + f" (`conformance spec` lists the operations: {', '.join(answers['operations'])})"
