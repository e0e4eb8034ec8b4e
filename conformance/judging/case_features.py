"""The features of a case with its meaning: of the whole program, and of what each of its operations meets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from conformance.cases.case import Case
from conformance.cases.program.effect_words import effect_words
from conformance.cases.program.features import Features, features


@dataclass(frozen=True)
class CaseFeatures:
    """Features of a ``case``, which is ``legal`` or not; ``calls`` are its collectives as cases of their own.

    There are no ``calls`` where a program is not taken apart.
    """

    case: Case
    legal: bool
    calls: tuple[CaseFeatures, ...] = ()

    @cached_property
    def words(self) -> Features:
        """Return the facts of the case, and by ``calls`` whether it is ``legal`` or ``illegal``."""
        return features(self.case) | {"calls": frozenset({"legal" if self.legal else "illegal"})}

    @cached_property
    def by_op(self) -> Mapping[str, Features]:
        """Return the facts that each operation of the program meets: of its own operands, steps and effects.

        Storage is the program's, so its layouts and what happens to it are there for all, and so is a dtype that no
        collective meets; so is everything where a program is not taken apart, and what it computes.
        """
        if not self.calls:
            return {step.op: self.words for step in self.case.program.collectives}
        found: dict[str, Features] = {}
        for call in self.calls:
            op = call.case.program.collectives[-1].op
            shared = {name: self.words[name] for name in ("layout", "flow", "faults", "computes", "computed")}
            known = found.get(op) or shared | {"effects": effect_words(self.case, op)[0]}
            own = {name: words | known.get(name, frozenset()) for name, words in call.words.items()}
            found[op] = known | own
        stored = self.words["dtype"].difference(*(words["dtype"] for words in found.values()))
        return {op: words | {"dtype": words["dtype"] | stored} for op, words in found.items()}

    def has(self, feature: str, *words: str) -> bool:
        """Return whether ``feature`` has any of ``words``."""
        return not self.words.get(feature, frozenset()).isdisjoint(words)
