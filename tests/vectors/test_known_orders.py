"""The orders that ship are those that would be made, for the claims of backends that are here."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from time import process_time

import pytest

from conformance.backends.reference import Reference
from conformance.runner.dialects import operations, suites
from conformance.vectors.best_order import best_order, made_order
from conformance.vectors.deck import deck
from conformance.vectors.deck_error import DeckError
from conformance.vectors.known_orders import claims_digest, known_order, known_orders, read_orders, write_orders


def test_the_order_that_ships_is_of_this_deck_and_the_one_that_is_made() -> None:
    claims = Reference().claims
    assert known_orders().deck == deck().digest, "run python -m conformance.qualification.deck.orders"
    assert known_order(deck().digest, claims) == made_order(deck(), claims)


def test_each_is_an_order_of_cases_of_the_deck() -> None:
    assert len(known_orders().orders) > 1
    for order in known_orders().orders.values():
        assert len({*order}) == len(order)
        assert {*order} <= {*range(len(deck().cases))}


def test_to_have_it_takes_milliseconds() -> None:
    asked = tuple(suites()), tuple(operations())
    best_order(deck(), Reference().claims)
    began = process_time()
    best_order(deck(), Reference().claims, *asked)
    assert process_time() - began < 0.25  # 2 ms on an idle machine, and half a second to make it


def test_with_fewer_suites_or_other_claims_it_is_made() -> None:
    claims = Reference().claims
    some = best_order(deck(), claims, ("graphs",))
    assert {deck().cases[number].suite for number in some} == {"graphs"}
    other = {op: {"world": ["2"]} for op in claims}
    assert known_order(deck().digest, other) is None
    assert best_order(deck(), other) == made_order(deck(), other)


def test_an_order_of_another_deck_is_none(tmp_path: Path) -> None:
    assert known_order("0" * 64, Reference().claims) is None
    write_orders(tmp_path / "orders.json.gz", "a", {"b": [2, 1]})
    assert read_orders(tmp_path / "orders.json.gz").orders == {"b": [2, 1]}


def test_the_order_of_words_in_claims_makes_no_difference() -> None:
    one, other = {"a": {"dtype": ["x", "y"]}, "b": {}}, {"b": {}, "a": {"dtype": ["y", "x"]}}
    assert claims_digest(one) == claims_digest(other)


packed = partial(gzip.compress, mtime=0)
WRONG = (b"[]", b'{"deck":"a","orders":{"b":[2,1,2]}}', b'{"deck":"a","orders":{"b":[-1,0]}}')


@pytest.mark.parametrize("text", [b"", packed(b"{}")[:-4], *map(packed, WRONG)])
def test_a_file_that_is_none_is_named(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "orders.json.gz").write_bytes(text)
    with pytest.raises(DeckError, match=r"orders .* are not to be read"):
        read_orders(tmp_path / "orders.json.gz")
