"""Automatic mutants are the same for the same seed, change what they say, and can be seen."""

from __future__ import annotations

import contextlib
import importlib
import os
from dataclasses import replace
from pkgutil import walk_packages

import pytest

from conformance.backends import opencl
from conformance.backends.discovery import BackendSpec
from conformance.backends.reference import Reference
from conformance.cases.tensor.tensor import to_array
from conformance.generate.suites import DOMAINS
from conformance.qualification.asking import fails
from conformance.qualification.auto.conditional.conditions import impossible
from conformance.qualification.auto.conditional.faulty_collectives import Fault, Faulty
from conformance.qualification.auto.conditional.faulty_values import FaultyValues
from conformance.qualification.auto.conditional.without_effect import without_effect
from conformance.qualification.auto.corpus import corpus
from conformance.qualification.auto.running.differences import (
    allowed,
    blamed,
    failing,
    verdict_on,
)
from conformance.qualification.auto.running.pool import At
from conformance.qualification.auto.running.survey import _surveyed
from conformance.qualification.auto.source.changes import CAME, changed_tree, changes
from conformance.qualification.auto.source.families import (
    ASKED_FOR,
    ENGINE,
    REFERENCE,
    SETTINGS,
    TOLD,
    VECTORS,
    every_change,
)
from conformance.qualification.auto.source.shadow import changed_backend, source_of
from conformance.qualification.drawn_cases import drawn_cases
from conformance.qualification.other_cases import other_cases
from conformance.reference.transforms.no_rule import NotLinear
from conformance.runner.dialects import dialects, suites
from conformance.runner.draws import numbered
from conformance.runner.meaning import meaning, verdict
from conformance.runner.worker.answers import Answer
from conformance.runner.worker.in_process import InProcess

LEFT = {*SETTINGS, *TOLD, *ASKED_FOR, *VECTORS}

SOURCE = "def double(x: int) -> int:\n    '''Return it twice.'''\n    if x > 0:\n        return x + x\n    return 0\n"


def test_every_change_of_a_module_is_another_program() -> None:
    found = changes("m", SOURCE)
    assert len({change.digest for change in found}) == len(found) > 10
    results = set()
    for change in found:
        made: dict[str, object] = {CAME: lambda: None}
        exec(compile(changed_tree(SOURCE, change), "m", "exec"), made)
        assert change.diff(SOURCE).startswith("m:")
        results.add(tuple(made["double"](x) for x in (-1, 0, 1, 2)))  # type: ignore[operator]
    assert {(0, 0, 0, 0), (-2, 0, 0, 0), (0, 0, 1, 2)} <= results


@pytest.mark.parametrize(
    ("source", "come_to_by"),
    [
        ("def f(x: int) -> int:\n    if x > 0:\n        return x + 1\n    return 0\n", {1}),
        ("def f(x: int) -> int:\n    if x < 0:\n        return 0\n    elif x + 1 > 1:\n        return 2\n", {0, 1}),
        ("f = lambda x: (lambda y: y + 1)(x) if x > 0 else 0\n", {1}),
    ],
)
def test_a_change_says_when_it_is_come_to(source: str, come_to_by: set[int]) -> None:
    change = next(change for change in changes("m", source) if change.kind == "operator")
    told: list[int] = []
    made: dict[str, object] = {CAME: lambda: told.append(0)}
    exec(compile(changed_tree(source, change), "m", "exec"), made)
    come = set()
    for x in (-1, 0, 1):
        told.clear()
        made["f"](x)  # type: ignore[operator]
        come |= {x} if told else set()
    assert come == come_to_by


def test_a_type_that_is_given_a_name_is_left_as_it_is() -> None:
    aliases = "Found = tuple[str, int]\nRule = Callable[[int], Found]\nValue = Found | Rule\n"
    assert not changes("m", aliases)
    assert changes("m", "FOUND = KNOWN[1:]\n")


NOTHING = """
from typing import cast as to
def f(x, y):
    clause = "pairs.C4" if x else "pairs.C3"
    text = f"no such axis as {x + y} of it"
    check(to(int | str, x), "gather.C5", "root")
    most, met = max(x, y), byte_ranges.overlap(x, y)
    same = x == y or bytes(x) == bytes(y)
    class Pair(Struct, frozen=True):
        named: str = hashlib.sha256(encode((x, y))).hexdigest()[:16]
    try:
        least = min([x, y])
    except (OSError, KeyError):
        least = x
    seen = {c for z in (0, y) for c in z}, {*(c for c in y)}, any(c for z in (0, y) for c in z)
    return x in (y, x), {c for c in y}, zip(x, y, strict=True)
"""


def test_what_cannot_change_anything_is_no_mutant() -> None:
    made = [change.diff(NOTHING).partition("+ ")[2] for change in changes("m", NOTHING)]
    assert any("zip(y, x, strict=True)" in each for each in made)
    assert any(each.endswith("same = x == y") for each in made)
    idle = (
        "clause =",
        "text =",
        "int & str",
        "'root', 'gather.C5'",
        "in (x, y)",
        "[::-1]",
        "zip(x, y)",
        "named",
        "max(y, x)",
        "overlap(y, x)",
        "same = bytes",
        "min([y, x])",
        "(KeyError, OSError)",
        "z in (y, 0)",
    )
    assert not [each for each in made if any(word in each for word in (*idle, "=False"))]


def test_a_corpus_depends_on_its_number_and_seed_alone_and_a_third_is_conditional(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All changes of the engine's code take 14 s to list; which are drawn of a list depends on its length alone.
    few = replace(ENGINE, changed=tuple(sorted(ENGINE.changed)[:12]))
    monkeypatch.setattr("conformance.qualification.auto.corpus.ENGINE", few)
    one, again, other = (corpus(30, seed) for seed in (5, 5, 6))
    assert [mutant.digest for mutant in one] == [mutant.digest for mutant in again]
    assert {mutant.digest for mutant in one} != {mutant.digest for mutant in other}
    assert sum(mutant.family == "conditional" for mutant in one) == 10


def test_only_code_is_changed_whose_module_has_a_word_in_its_name() -> None:
    found = corpus(30, 0, ("reference",), ("transforms", "types.check"))
    assert len(found) == 10
    assert all("transforms" in str(mutant.made) or "types.check" in str(mutant.made) for mutant in found)


def test_changed_code_is_seen_by_its_backend_alone() -> None:
    wrong = next(c for c in every_change(REFERENCE) if c.module.endswith(".axis_size") and c.kind == "index")
    made = changed_backend(REFERENCE, wrong)()
    cases = [each.case for each in drawn_cases(0, 20, ("collectives",), ("axis_size",))]
    come_to = vars(type(made))["applied"]
    assert not come_to
    assert any(made.execute(case).results != Reference().execute(case).results for case in cases)
    assert come_to
    assert all(not fails(verdict(meaning(case), Answer(Reference().execute(case)))) for case in cases)


PLACES = {
    "graph.elementwise": "graph",
    "sharded.parts": "sharded",
    "types.collectives": "typed_program",
    "transforms.transposes": "transposed_program",
    "transforms.batching": "batched_program",
}


LOOKING = """
def f(rows):
    for number, row in enumerate(rows):
        first = g(row)
        if first > number:
            return f"there is one of {first}"
    return None
"""


@pytest.mark.parametrize(("call", "free"), [("g(row)", True), ("g(row, first)", False), ("rows.pop(row)", False)])
def test_a_loop_that_only_looks_for_something_may_look_in_any_order(call: str, *, free: bool) -> None:
    source = LOOKING.replace("g(row)", call)
    assert ("order" not in [each.kind for each in changes("m", source)]) == free


@pytest.mark.parametrize("source", ["with np.errstate(all='ignore'):\n    f()\n", "y = x.reshape(-1)\n"])
def test_what_numpy_warns_of_and_which_extent_a_reshape_leaves_is_no_mutant(source: str) -> None:
    made = [change.diff(source).partition("+ ")[2] for change in changes("m", source)]
    assert not [each for each in made if "errstate()" in each or "reshape(-2)" in each]


@pytest.mark.parametrize("module", PLACES)
def test_changed_code_dies_where_it_is_run(module: str) -> None:
    drawn = other_cases(0, 40, tuple(suites()), (PLACES[module],))
    name, safe = f"conformance.reference.{module}", ("operator", "condition", "order", "dropped term")  # all loops end
    of = [each for each in changes(name, source_of(name)) if each.below and each.kind in safe]
    workers = (InProcess(BackendSpec("m", ()), backend=changed_backend(REFERENCE, each)()) for each in of[:12])
    assert any(failing(worker, each) for worker in workers for each in drawn)


@pytest.mark.parametrize("dialect", ["graph", "global", "types"])
def test_a_wrong_value_and_what_is_not_refused_are_found_in_every_dialect(dialect: str) -> None:
    drawn = other_cases(0, 60, tuple(suites()), dialects()[dialect].ops)
    for effect, legal in (("sign flipped", "legal=yes"), ("not refused", "legal=no")):
        backend = FaultyValues(Fault(effect, frozenset({f"dialect={dialect}", legal}), 0, 0))
        worker = InProcess(BackendSpec("f", ()), backend=backend)
        assert any(failing(worker, each) for each in drawn)


def test_what_breaks_a_may_alone_is_allowed_and_who_ends_there_is_not() -> None:
    every = other_cases(0, 60, ("transforms",), ("transposed_program",))
    one = next(each for each in every if isinstance(dialects()["types"].mean(each.case).no_rule, NotLinear))
    held = {name: list(map(to_array, one.case.inputs[name])) for name in one.case.answered}
    said = []
    for made in (held, {}):
        backend = Reference()
        backend.pullback = lambda *_, made=made: made  # type: ignore[method-assign]
        said.append(verdict_on(InProcess(BackendSpec("f", ()), backend=backend), one))
    assert (allowed(said[0]), blamed(said[0])) == ({"transposes.C13"}, None)
    assert (allowed(said[1]), blamed(said[1])) == (set(), ("transposes.C14", "must"))


def test_the_modules_that_hold_c_are_among_those_that_are_changed() -> None:
    assert set(ENGINE.in_c) < set(ENGINE.changed)


def test_functions_of_the_engine_that_are_left_as_they_are_exist() -> None:
    modules = tuple(name for name in ENGINE.changed if any(each.startswith(f"{name}.") for each in ENGINE.but))
    every = every_change(replace(ENGINE, changed=modules, but=frozenset()))
    assert ENGINE.but <= {f"{change.module}.{change.function}" for change in every}


def test_no_other_mutant_finds_what_changed_names_of_programs_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    family = replace(REFERENCE, environment={"KEPT": "here"}, apart={REFERENCE.changed[0]: {"KEPT": "off"}})
    monkeypatch.setenv("KEPT", "there")
    of = {each.module: each for each in every_change(replace(REFERENCE, changed=REFERENCE.changed[:2]))}
    found = []
    for change in (of[REFERENCE.changed[0]], of[REFERENCE.changed[1]], None):
        with contextlib.suppress(Exception):
            changed_backend(family, change)
        found.append(os.environ["KEPT"])
    assert found == ["off", "here", "here"]


@pytest.mark.slow
def test_what_the_engine_imports_late_is_changed_too() -> None:
    pytest.importorskip("pyopencl")
    real = importlib.import_module("conformance.backends.opencl.runtime.rounds").Graphs
    made = [changed_backend(ENGINE, None)() for _ in range(2)]
    assert len({real, *(type(vars(each)["graphs"]) for each in made)}) == 3


@pytest.mark.slow
def test_every_case_comes_to_what_runs_as_the_engine_is_started() -> None:
    pytest.importorskip("pyopencl")
    drawn = drawn_cases(3, 4, ("collectives",), ("all_gather",))[:3]
    lines = _surveyed(ENGINE, drawn, (0, 3), At(), words=False).lines["conformance.backends.opencl.runtime.session"]
    assert "7" in lines.values()


def test_what_no_legal_case_meets_is_void_and_says_why() -> None:
    assert impossible({"trouble=dies", "legal=no"}) is not None
    assert impossible({"dtype=int8", "values=nan"}) == "no program has a collective with dtype=int8 and values=nan"
    assert impossible({"legal=no", "operation=barrier", "reduction=sum"}) is not None
    assert impossible({"trouble=late", "place=into"}) is not None
    assert impossible({"operation=all_reduce", "reduction=sum", "place=in_place"}) is None
    # Each two of these meet in some collective.
    assert impossible({"reduction=sum", "root=first", "tiled=yes"}) is not None
    assert impossible({"world=8", "members=odd", "root=last"}) is not None
    assert impossible({"legal=no", "world=8", "members=odd", "root=last"}) is None
    assert impossible({"world=8", "members=odd", "root=middle"}) is None


def test_an_effect_that_can_change_nothing_is_void_and_says_why() -> None:
    assert without_effect("NaN lost", frozenset({"reduction=xor"})) == "its results are no floats"
    assert without_effect("NaN lost", frozenset({"reduction=sum"})) is None
    assert without_effect("axes exchanged", frozenset({"operation=axis_size"})) is not None
    assert without_effect("the operand instead of the result", frozenset({"local=one"})) is not None
    assert without_effect("the operand instead of the result", frozenset({"reduction=mean", "dtype=int8"})) is not None
    assert without_effect("the operand instead of the result", frozenset({"reduction=mean"})) is None
    assert without_effect("the operand instead of the result", frozenset({"reduction=sum", "tiled=no"})) is not None
    assert without_effect("the operand instead of the result", frozenset({"members=2", "tiled=no"})) is None
    assert without_effect("written past the target", frozenset({"rank=0", "place=in_place"})) is not None
    assert without_effect("the operand read when it is waited for", frozenset({"start=waited"})) is not None
    assert without_effect("sign flipped", frozenset({"start=never", "place=fresh"})) == "nobody waits for its result"
    assert without_effect("sign flipped", frozenset({"start=never", "place=into"})) is None
    assert without_effect("sign flipped", frozenset({"meetings=none", "axes=one"})) == "it has no operand"
    assert without_effect("refused", frozenset({"trouble=dies"})) is not None
    assert without_effect("refused", frozenset({"trouble=late"})) is None


@pytest.mark.parametrize("effect", ["the operand overwritten", "a call as before returns what that one did"])
def test_what_is_left_of_a_call_shows_where_ranks_go_their_own_ways(effect: str) -> None:
    backend, right = Faulty(Fault(effect, frozenset({"trouble=late"}), 0, 0)), Reference()
    cases = [numbered(DOMAINS["liveness"]["all_reduce"], 0, number)[0] for number in range(45)]
    shown = [backend.execute(case).results != right.execute(case).results for case in cases]
    assert backend.applied >= sum(shown) > 0


def test_modules_that_are_left_as_they_are_exist() -> None:
    there = {module.name.rpartition(".")[2] for module in walk_packages(opencl.__path__, f"{opencl.__name__}.")}
    assert there >= LEFT
