"""Whatever code a page shows can be read there: every name of it is shown too, or told of in words."""

from __future__ import annotations

import pytest

from conformance.reference.operations import OPERATIONS
from conformance.specification import graphs, types
from conformance.specification.evaluation import EVALUATING
from conformance.specification.functions import foreign, shown
from conformance.specification.names import ELSEWHERE

PAGES = {
    "operations": ((*OPERATIONS.values(), *EVALUATING), ()),
    "graphs": ((*graphs.EVALUATION, *graphs.MOVING, *graphs.ELEMENTWISE), ()),
    "types": (types.SHOWN, types.OPERATION_MODULES),
}


def names(page: str) -> set[str]:
    """Return the names that the code of a page uses and the page does not show."""
    functions, beyond = PAGES[page]
    return set().union(*(foreign(code, beyond) for code in shown(functions, beyond)))


@pytest.mark.parametrize("page", PAGES)
def test_every_name_of_shown_code_is_shown_or_told_of(page: str) -> None:
    operations = {code.name for code in shown(OPERATIONS.values())} if page == "types" else set()
    assert names(page) - set(ELSEWHERE) - operations == set()


def test_every_name_that_is_told_of_is_used() -> None:
    assert set(ELSEWHERE) == set().union(*map(names, PAGES)) & set(ELSEWHERE)


def test_a_constant_is_shown_with_what_it_says_and_a_function_with_its_decorators() -> None:
    found = {code.name: code.text for code in shown(OPERATIONS.values())}
    assert found["Terms"] == 'Terms = list[Array]\n"""The blocks that are folded to one, in order."""'
    assert "return [None if each is None" in found["folded"]
    assert found["send"].startswith('@operation("exchange", ')
