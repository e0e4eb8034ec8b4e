"""The deck as a file: it is read as it was written, and what does not fit is named."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import pytest

from conformance.cases.case import Case, Operand, case_id
from conformance.cases.program.program import Axis, Program, Step
from conformance.cases.tensor.tensor import from_array
from conformance.runner.dialects import operations, suites
from conformance.runner.meaning import meaning
from conformance.runner.plan import Plan
from conformance.vectors.best_order import best_order, within
from conformance.vectors.deck import FILE, Deck, FrozenCase, Tables, check_meaning, deck, read_deck, write_deck
from conformance.vectors.deck_error import DeckError
from conformance.vectors.meaning import meaning_digest
from conformance.vectors.power import FILE as KILLS
from conformance.vectors.power import deck_kills
from conformance.vectors.stored import form_of, read, written


def case(*values: float) -> Case:
    step = Step(op="all_reduce", inputs=("x",), outputs=("y",), axes=("i",), attrs={"op": "sum"})
    blocks = tuple(from_array(np.array(values, np.float32)) for _ in range(2))
    return Case(
        program=Program(mesh=(Axis("i", 2),), steps=(step,), results=("y",)),
        inputs={"x": Operand(blocks=blocks, layouts=("contiguous", "contiguous"))},
    )


def frozen(one: Case) -> FrozenCase:
    return FrozenCase(
        name=case_id(one),
        form=form_of(one),
        family="collectives",
        suite="collectives",
        op="all_reduce",
        origin="seed 1 draw 2",
        seconds=0.001,
        meaning=meaning_digest(meaning(one)),
        facts={"all_reduce": [0]},
        parts=[([0], [0])],
        text=msgspec.Raw(written(one)),
    )


TABLES = Tables(clauses=["all_reduce.C1"], words=["dtype=float32"], facts=[("dtype", "float32")])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_deck(tmp_path / "deck.jsonl.gz", "here", TABLES, [frozen(case(1.0, 2.0)), frozen(case(3.0))])
    return tmp_path / "deck.jsonl.gz"


def changed(path: Path, old: bytes, new: bytes) -> Path:
    text = gzip.decompress(path.read_bytes())
    assert old in text
    path.write_bytes(gzip.compress(text.replace(old, new)))
    return path


def test_a_deck_is_read_as_it_was_written(path: Path) -> None:
    whole = read_deck(path)
    assert whole.cases[0].case == case(1.0, 2.0)
    assert whole.features(whole.cases[0]) == {"all_reduce": {"dtype": frozenset({"float32"})}}
    check_meaning(whole.cases[0], meaning(whole.cases[0].case))


def test_a_deck_that_was_changed_is_named(path: Path) -> None:
    with pytest.raises(DeckError, match="was changed: its digest is"):
        read_deck(changed(path, b"seed 1 draw 2", b"seed 1 draw 3"))


def test_a_deck_of_another_format_is_named(path: Path) -> None:
    with pytest.raises(DeckError, match="has the format 9"):
        read_deck(changed(path, b'"format":1', b'"format":9'))


@pytest.mark.parametrize(
    "content", [b"", b"no gzip", gzip.compress(b"{}\n{}", mtime=0), gzip.compress(b"", mtime=0)[:-4]]
)
def test_what_is_no_deck_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "deck").write_bytes(content)
    with pytest.raises(DeckError, match="is not to be read"):
        read_deck(tmp_path / "deck")


def test_a_deck_of_another_specification_is_named(tmp_path: Path) -> None:
    tables = msgspec.structs.replace(TABLES, clauses=["all_reduce.C1", "all_reduce.C999", "does alu add"])
    write_deck(tmp_path / "deck", "here", tables, [])
    with pytest.raises(DeckError, match=r"1 are gone, all_reduce\.C999 first"):
        read_deck(tmp_path / "deck")


def test_a_case_that_means_something_else_is_named(path: Path) -> None:
    one = read_deck(path).cases[0]
    with pytest.raises(DeckError, match="no longer means what its digest says"):
        check_meaning(one, meaning(case(1.0, 2.5)))


def test_claims_that_leave_nothing_are_named(path: Path) -> None:
    whole = read_deck(path)
    assert best_order(whole, {"all_reduce": {"dtype": ["float32"]}}) == [0, 1]
    with pytest.raises(DeckError, match="no case of the deck lies within the claims"):
        best_order(whole, {"all_reduce": {"dtype": ["int32"]}})
    with pytest.raises(DeckError, match="no case of types"):
        best_order(whole, {"all_reduce": {}}, suites=("types",))


def test_the_digest_of_a_meaning_takes_every_nan_for_the_same() -> None:
    quiet, other = (np.array([bits], np.uint32).view(np.float32) for bits in (0x7FC00000, 0xFFC00001))
    one, two = (
        msgspec.structs.replace(
            case(0.0), inputs={"x": Operand(blocks=(from_array(each),) * 2, layouts=("contiguous",) * 2)}
        )
        for each in (quiet, other)
    )
    assert meaning_digest(meaning(one)) == meaning_digest(meaning(two)) != meaning_digest(meaning(case(0.0)))


def test_a_case_of_each_form_is_read_as_it_was_written() -> None:
    assert read(form_of(case(1.0)), written(case(1.0))) == case(1.0)


def test_the_same_cases_make_the_same_bytes(path: Path) -> None:
    before = path.read_bytes()
    whole: Deck = read_deck(path)
    write_deck(path, whole.made, whole.tables, whole.cases)
    assert path.read_bytes() == before


def spoken(clause: str, among: Sequence[int]) -> int:
    """Return how many of some cases of the deck a clause speaks about."""
    number = deck().tables.clauses.index(clause)
    return sum(any(number in clauses for clauses, _ in deck().cases[at].parts) for at in among)


def test_three_cases_of_the_deck_are_about_every_clause_that_a_run_expects() -> None:
    tables = deck().tables
    spoke: Counter[str] = Counter()
    for one in deck().cases:
        spoke.update({tables.clauses[number] for part in one.parts for number in part[0]})
    every = Plan(ops=tuple(operations()), examples=1, suites=tuple(suites())).clauses()
    assert {clause: spoke[clause] for clause in every if spoke[clause] < 3} == {}


def test_three_cases_of_the_deck_have_a_meaning_with_elements_for_every_operation() -> None:
    for op, dialect in operations().items():
        found, several = 0, iter([one for one in deck().cases if one.op == op])
        while found < 3:
            one = next(several, None)
            assert one is not None, f"{found} cases of {op} have a value"
            subject = dialect.mean(one.case)
            if subject is not None and dialect.facts(subject).legal:
                found += dialect.name == "schedule" or dialect.valued(subject)


def test_a_backend_of_two_operations_is_shown_each_clause_that_speaks_within_its_claims() -> None:
    readme = {
        "all_reduce": {"op": ["sum", "max"], "dtype": ["int32", "float32"], "local_axes": []},
        "broadcast": {},
    }
    mine = [at for at in within(deck(), readme) if deck().cases[at].family == "collectives"]
    assert len(mine) >= 40
    for clause in ("all_reduce.C1", "broadcast.C1", "collective.C5", "collective.C9", "collective.C12"):
        assert spoken(clause, mine) >= 1, clause
    for op, dtype in product(("all_reduce", "broadcast"), ("int32", "float32")):
        plain = {op: readme[op] | {"dtype": [dtype], "calls": ["legal"]}}
        assert len([at for at in within(deck(), plain) if deck().cases[at].op == op]) >= 2


@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_a_backend_of_one_operation_is_shown_that_a_root_is_a_position_in_its_group(dtype: str) -> None:
    claims = {"broadcast": {"dtype": [dtype], "root": ["nonnegative"], "calls": ["legal"], "layout": ["contiguous"]}}
    alone = [case for at in within(deck(), claims) if len((case := deck().cases[at].case).program.steps) == 1]
    apart = [case for case in alone for operand in case.inputs.values() if len({*operand.blocks}) > 2]
    assert any(case.program.steps[0].attrs["root"] for case in apart)


def test_the_deck_and_its_kills_are_of_each_other_and_small_enough() -> None:
    assert deck_kills().digest == deck().digest
    assert deck_kills().cases == [one.name for one in deck().cases]
    assert len(deck().cases) <= 2000
    assert FILE.stat().st_size + KILLS.stat().st_size < 4 << 20
