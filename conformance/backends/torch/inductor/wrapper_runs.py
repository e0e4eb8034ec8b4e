"""What a wrapper asks for when it is run, once after the other: memory that lasts. Nothing is computed or allocated."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from typing import Any, Final

LASTING: Final = "empty_strided_p2p"
"""The function that gives memory by the name that it is told: the same name, the same memory."""


class Runs:
    """The lines of a wrapper, with nothing behind their names: an allocation is told by the name it was asked for by.

    An expression is evaluated as it stands, so that a name which is drawn or counted while the wrapper runs is another
    one in each run.
    """

    def __init__(self, lines: Iterable[ast.stmt]) -> None:
        """Take the lines of the function that is called."""
        own = [line for line in map(_runnable, lines) if line is not None]
        module = ast.fix_missing_locations(ast.Module(own, []))
        self._code = compile(module, "<wrapper>", "exec")

    def run(self) -> dict[str, str]:
        """Run the wrapper once more, and return the allocation of each name that it gives to memory which lasts."""
        names = _Names()
        exec(self._code, {}, names)  # noqa: S102 - it is Inductor's text, which is made to be run
        return names.lasting


def _runnable(line: ast.stmt) -> ast.stmt | None:
    """Return a line as it is run: names of arguments have nothing behind them, and the last expression stays one."""
    if isinstance(line, ast.Return):
        return None if line.value is None else ast.copy_location(ast.Expr(line.value), line)
    named = isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Name)
    return line if named or isinstance(line, ast.Expr | ast.Import | ast.ImportFrom) else None


class _Lasting(str):
    """The name of an allocation, as a wrapper asks for it."""

    __slots__ = ()


class _Anything:
    """Whatever a wrapper calls or takes a part of."""

    def __call__(self, *_: Any, **__: Any) -> _Anything:
        return self

    def __getattr__(self, name: str) -> _Anything:
        return self

    def __getitem__(self, key: Any) -> _Anything:
        return self


def _allocated(*_: Any, alloc_id: Any, **__: Any) -> _Lasting:
    return _Lasting(alloc_id)


class _Names(dict[str, Any]):
    """The names of one run, and the allocations among them."""

    def __init__(self) -> None:
        super().__init__({LASTING: _allocated})
        self.lasting: dict[str, str] = {}

    def __setitem__(self, name: str, value: Any) -> None:
        if isinstance(value, _Lasting):
            self.lasting[name] = str(value)
        super().__setitem__(name, value)

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        return _Anything()
