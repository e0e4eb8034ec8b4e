"""The table of operations: what each is, in one row, declared where its meaning is and asked by everybody.

A row is read off the function that is the operation's meaning, and has beside it what no signature says. The rows are
in ``TABLE`` once ``conformance.reference.operations`` is imported, and in a worker once the runner has sent them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeVar

import msgspec

from conformance.cases.specification_error import SpecificationError

Does = Literal["reduce", "gather", "exchange", "spread", "query"]
"""What an operation does: it folds blocks, joins them, exchanges them, hands one out, or asks and takes none."""

Who = Literal["all", "root", "sources", "nobody"]
"""Members by what the attributes call them; ``sources`` are the first of each of ``pairs``."""

Result = Literal["block", "number", "token", "nothing"]

Function = TypeVar("Function", bound=Callable[..., Any])


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What an operation is.

    It takes ``operands`` values, mapped over as many as a step names where that is one; with ``takes_token`` that one
    is a token. ``readers`` of its blocks, and ``writers`` of its result, are the members that do. ``groups`` may be
    ``any`` or have to be ``equal`` in size; where the result is ``sized``, one of its extents comes with that size.
    What a result ``folds`` are the blocks of its group, or of a prefix of it. Blocks ``differ`` from rank to rank in
    nothing, in their ``rows`` or in ``all``. It writes ``over`` the operand of that number where it is done in place.
    """

    name: str
    does: Does
    attributes: tuple[str, ...] = ()
    operands: int = 1
    takes_token: bool = False
    result: Result = "block"
    readers: Who = "all"
    writers: Who = "all"
    groups: Literal["equal", "any"] = "equal"
    sized: bool = False
    folds: Literal["group", "prefix"] = "group"
    differ: Literal["nothing", "rows", "all"] = "nothing"
    over: int | None = None

    @property
    def written(self) -> bool:
        """Return whether it has a block that may be written into storage."""
        return self.result in ("block", "number")

    @property
    def started(self) -> bool:
        """Return whether it can be started: it gives something to wait for, and is no half of a move already."""
        return self.written and not self.takes_token


class RowError(SpecificationError):
    """A row that contradicts the signature of its reference function; the message says in what."""


TABLE: Final[dict[str, Operation]] = {}
"""Every declared operation by name."""

_ORDINARY: Final = Operation(name="", does="exchange")


def row(name: str) -> Operation:
    """Return the row of an operation; of one that nobody declared, an ordinary one of one block a rank."""
    return TABLE.get(name, _ORDINARY)


def declare(rows: Iterable[Operation]) -> None:
    """Add rows to the table."""
    TABLE.update({each.name: each for each in rows})


def operation(does: Does, **more: Any) -> Callable[[Function], Function]:
    """Declare the function as the meaning of the operation that bears its name; ``more`` are fields of its row.

    Raise ``RowError`` where the row contradicts the signature.
    """

    def declared(function: Function) -> Function:
        declare([described(function, does, **more)])
        return function

    return declared


def described(function: Callable[..., Any], does: Does, **more: Any) -> Operation:
    """Return the row of an operation, read off its meaning; raise ``RowError`` where the two contradict each other."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    taken = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    given = str(signature.return_annotation)
    result: Result = "nothing" if given == "None" else "token" if "Token" in given else "block" if taken else "number"
    made = Operation(
        name=getattr(function, "__name__", ""),
        does=does,
        attributes=tuple(each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name != "groups"),
        operands=len(taken),
        takes_token=any("Token" in str(each.annotation) for each in taken),
        result=result,
        **more,
    )
    _check(made, "groups" in signature.parameters, "None" in given and given != "None")
    return made


def _check(made: Operation, grouped: bool, partial: bool) -> None:
    """Raise ``RowError`` unless the row fits what its function takes and gives."""
    have, nobody = set(made.attributes), "nobody"
    wrong = {
        "it takes no groups": not grouped,
        "it reduces without an attribute op": made.does == "reduce" and "op" not in have,
        "its row says what it folds, and it reduces nothing": made.folds != "group" and made.does != "reduce",
        "it asks and takes a block": made.does == "query" and made.operands > 0,
        "it takes no block, and its row does not say that it asks": made.does != "query" and made.operands == 0,
        "it takes no block, and its row says who reads one": made.operands == 0 and made.readers != nobody,
        "its row speaks of a root, and it has no attribute root": "root" in (made.readers, made.writers)
        and "root" not in have,
        "its row speaks of sources, and it has no attribute pairs": made.readers == "sources" and "pairs" not in have,
        "it gives no block, and its row says who writes one": not made.written and made.writers != nobody,
        "it gives a block, and by its row nobody writes one": made.written and made.writers == nobody,
        "by its row only a root has a result, and it gives every rank a block": made.writers == "root" and not partial,
        "it gives some ranks no block, and its row does not say that only a root has one": partial
        and made.writers != "root",
        f"it takes {made.operands} operands, and its row says that it writes over number {made.over}": made.over
        is not None
        and made.over >= made.operands,
    }
    for said, is_wrong in wrong.items():
        if is_wrong:
            raise RowError(f"the row of {made.name} contradicts its reference function: {said}")
