"""The table of operations: what each is, in one row, declared where its meaning is and asked by everybody.

A row is read off the function that is the operation's meaning, and has beside it what no signature says. The rows are
in ``TABLE`` once ``conformance.reference.operations`` is imported, and in a worker once the runner has sent them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import msgspec

from conformance.cases.program.operation import Does, Operation, Result
from conformance.cases.specification_error import SpecificationError

Function = TypeVar("Function", bound=Callable[..., Any])


class RowError(SpecificationError):
    """A row that contradicts the signature of its reference function, or is none; the message says in what."""


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
    """Return the row of an operation, read off its meaning; raise ``RowError`` where the two contradict each other.

    So does a field that rows do not have, or that is read off the function, and a word that is none of its field's.
    """
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    taken = [each for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    given = str(signature.return_annotation)
    result: Result = "nothing" if given == "None" else "token" if "Token" in given else "block" if taken else "number"
    read = {
        "name": getattr(function, "__name__", ""),
        "attributes": [each.name for each in parameters if each.kind is each.KEYWORD_ONLY and each.name != "groups"],
        "operands": len(taken),
        "takes_token": any("Token" in str(each.annotation) for each in taken),
        "result": result,
    }
    made = _row(read, {"does": does, **more})
    _check(made, "groups" in signature.parameters, "None" in given and given != "None")
    return made


def _row(read: dict[str, Any], said: dict[str, Any]) -> Operation:
    """Return the row of what was ``read`` off a function and what is ``said`` beside it, field by field."""
    fields = [name for name in Operation.__struct_fields__ if name not in read]
    for field in said:
        if field not in fields:
            raise RowError(f"the row of {read['name']} has a field {field}, and may say {', '.join(fields)} alone")
    try:
        return msgspec.convert({**said, **read}, Operation)
    except msgspec.ValidationError as error:
        raise RowError(f"the row of {read['name']}: {error}") from None


def _check(made: Operation, grouped: bool, partial: bool) -> None:
    """Raise ``RowError`` unless the row fits what its function takes and gives."""
    have, nobody = set(made.attributes), "nobody"
    wrong = {
        "it takes no groups": not grouped,
        "it reduces without an attribute op": made.does == "reduce" and "op" not in have,
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
        and not 0 <= made.over < made.operands,
    }
    for said, is_wrong in wrong.items():
        if is_wrong:
            raise RowError(f"the row of {made.name} contradicts its reference function: {said}")
