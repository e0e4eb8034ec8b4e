"""HLO's elementwise operations in the words of neutral bodies; what has no word there is not here."""

from __future__ import annotations

from typing import Final

UNARY: Final = {"negate": "neg", "abs": "abs", "not": "not", "sqrt": "sqrt", "sine": "sin"}

BINARY: Final = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "remainder": "mod", "maximum": "max",
    "minimum": "min", "and": "and", "or": "or", "xor": "xor", "shift-left": "shl",
}  # fmt: skip

FOLDS: Final = {
    "add": "add", "multiply": "mul", "maximum": "max", "minimum": "min", "and": "and", "or": "or", "xor": "xor",
}  # fmt: skip

COMPARED: Final = {
    "LT": (("lt", False),), "GT": (("lt", True),), "EQ": (("eq", False),), "NE": (("ne", False),),
    "LE": (("lt", False), ("eq", False)), "GE": (("lt", True), ("eq", False)),
}  # fmt: skip
"""A comparison as comparisons of which one holds, each with whether its operands change places."""

NEUTRAL: Final = {"add": 0, "or": 0, "xor": 0, "mul": 1, "and": -1}
"""What a fold may begin with and be the fold of its terms alone; of bools the truth of it."""
