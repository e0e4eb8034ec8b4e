"""Everything that ``conformance spec`` prints, as plain data."""

from __future__ import annotations

from inspect import Parameter, getdoc, signature
from typing import Any

import msgspec

from conformance.judging.clause import AnyClause, Clause
from conformance.reference.operations import OPERATIONS
from conformance.reference.reductions import REDUCTIONS
from conformance.reference.spmd import ATTRIBUTES
from conformance.runner.dialects import further_clauses
from conformance.specification.clause_table import is_silent
from conformance.specification.example import worked
from conformance.specification.families import document_of
from conformance.specification.framework_names import NAMES, FrameworkName
from conformance.specification.index import by_word, entries
from conformance.specification.pictures import drawn
from conformance.specification.rules import DOCUMENTS, RULES, Rule, judged_on
from conformance.specification.search import sentences
from conformance.specification.sources import SOURCES, Source, cited, described
from conformance.specification.where_defined import places
from conformance.specs import OPS, SHARED, Op, every_clause

Data = dict[str, Any]


def answers() -> Data:
    """Return operations, clauses, sources, entries of the index, names and sentences, as lists and dictionaries."""
    clauses: dict[str, Clause | AnyClause] = {**every_clause(), **further_clauses()}
    at = places(clauses.values())
    found = entries()
    return {
        "operations": {op.name: op_data(op) for op in OPS.values()},
        "clauses": {id: {**clause_data(clause), **_where(*at[id])} for id, clause in clauses.items()},
        "shared": [clause.id for clause in SHARED],
        "further": list(further_clauses()),
        "sources": {name: source_data(source) for name, source in SOURCES.items()},
        "rules": {rule.id: rule_data(rule) for rule in RULES.values()},
        "cited_by": _cited_by(clauses),
        "described": {name: described(name) for name in SOURCES},
        "entries": [entry._asdict() for entry in found],
        "words": by_word(found),
        "names": [_name_data(name) for name in NAMES],
        "aliases": aliases(),
        "sentences": list(sentences()),
    }


def aliases() -> dict[str, str]:
    """Return the frameworks' names, whole and by their last word, with the operation each is an alias of."""
    found = {}
    for op in OPS.values():
        for name in (name for names in op.aliases.values() for name in names):
            found[name] = found[name.rpartition(".")[2]] = op.name
    return found


def clause_data(clause: Clause | AnyClause) -> Data:
    """Return a clause as plain data."""
    said = {each.source: each.text for each in getattr(clause, "diverges", ())}
    return {
        "id": clause.id,
        "requirement": clause.requirement,
        "text": clause.text,
        "source": clause.source,
        "described": described(clause.source),
        "cites": [{**source_data(source), "place": place} for source, place in cited(clause.source)],
        "suite": clause.suite,
        "link": document_of(clause.id),
        **({"guarantee": clause.guarantee} if isinstance(clause, Clause) and clause.guarantee else {}),
        **({"divergences": said, "silent": [name for name in said if is_silent(said[name])]} if said else {}),
    }


def _where(defined: str, checked: str) -> Data:
    return {**({"defined": defined} if defined else {}), **({"checked": checked} if checked else {})}


def source_data(source: Source) -> Data:
    """Return a source as plain data."""
    text = source.document
    return {
        "name": source.name,
        "title": text.title,
        "version": text.version,
        "licence": text.licence,
        "file": text.file,
        "section": source.section,
        "settles": source.settles,
    }


def rule_data(rule: Rule) -> Data:
    """Return a rule of a source as plain data."""
    document = DOCUMENTS[rule.id.partition(".")[0]]
    return {
        "id": rule.id,
        "text": rule.text,
        "file": document.file,
        "place": rule.place,
        "version": document.version,
        "answer": rule.answer,
        "clauses": list(rule.clauses),
        "note": rule.note,
        "judged": list(judged_on(rule.clauses)),
    }


def _cited_by(clauses: dict[str, Clause | AnyClause]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {name: [] for name in SOURCES}
    for clause in clauses.values():
        for source in dict(cited(clause.source)):
            found[source.name].append(clause.id)
    return found


def _name_data(name: FrameworkName) -> Data:
    return {
        "framework": name.framework,
        "name": name.name,
        "aspect": name.aspect,
        "ours": name.ours,
        "relation": name.relation,
        "sentence": name.sentence,
        "difference": name.difference,
        "status": name.status,
        "clauses": list(name.clauses),
        "operation": name.operation.removeprefix("start ").split(" ")[0] if name.ours else "",
    }


def op_data(op: Op) -> Data:
    """Return an operation, with the clauses it shares with others, as plain data."""
    return {
        "name": op.name,
        "summary": op.summary,
        "parameters": [
            {"name": one.name, "keyword": one.kind is Parameter.KEYWORD_ONLY, "type": str(one.annotation)}
            | ({} if one.default is Parameter.empty else {"default": one.default})
            for one in parameters(op)
        ],
        "method": f"{op.name}{_call(op)}",
        "notes": notes(op),
        "attributes": {name: _type_name(hint) for name, hint in ATTRIBUTES[op.name].items()},
        "aliases": {framework: list(names) for framework, names in op.aliases.items()},
        "picture": list(drawn(op.name)),
        "clauses": [clause.id for clause in op.clauses],
        "shared": [clause.id for clause in op.shares],
        "examples": [msgspec.to_builtins(example) for example in worked(op)],
    }


def parameters(op: Op) -> list[Parameter]:
    """Return what the method of a backend is called with, in order: operands, then keywords."""
    return list(signature(OPERATIONS[op.name]).parameters.values())


def notes(op: Op) -> str:
    """Return what the reference says of shapes and parameters, below its first line; empty where that says it all."""
    said = (getdoc(OPERATIONS[op.name]) or "").partition("\n")[2].strip()
    known = ("max", "min") if op.name == "arg_reduce" else tuple(REDUCTIONS)
    words = f"``op`` is one of {', '.join(known)}." if "op" in ATTRIBUTES[op.name] else ""
    return "\n\n".join(part for part in (said, words) if part)


def _call(op: Op) -> str:
    """Return the parameters in order, as they are written."""
    return str(signature(OPERATIONS[op.name])).partition(" ->")[0].replace("'", "")


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)
