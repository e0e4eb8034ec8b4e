"""The reference, wrong in one way wherever a collective meets a condition."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from conformance.backends.case_arrays import Placed
from conformance.backends.exceptions import rank_error
from conformance.backends.reference import Reference, Stored
from conformance.cases.case import Case, digest
from conformance.cases.observation import Observation
from conformance.cases.program.program import Step
from conformance.cases.tensor.tensor import Tensor
from conformance.qualification.auto.conditional import wrong_results
from conformance.qualification.auto.conditional.collective_words import Words, facts
from conformance.qualification.auto.conditional.value_words import DIALECT
from conformance.reference.effects import Ranks
from conformance.reference.operations import OPERATIONS

Way = Literal["result", "operand", "storage", "refusal"]

WRITTEN: Final = ("place=into", "place=in_place", "place=overlap")
WAITED: Final = ("start=waited", "start=later")

STORAGE: Final[dict[str, tuple[str, ...]]] = {
    "the operand overwritten": (),
    "the target not written": WRITTEN,
    "the target's last slice not written": WRITTEN,
    "written past the target": WRITTEN,
    "the result shares the operand's storage": ("place=fresh",),
    "the operand read when it is waited for": WAITED,
    "a call as before returns what that one did": (),
}
"""What goes wrong with storage and waiting, and the words of which it needs one."""

REFUSAL: Final = {"refused": False, "refused as unsupported": False, "not refused": True}
"""What goes wrong with refusing, and whether it needs an illegal program."""

WAYS: Final[dict[str, Way]] = {
    **dict.fromkeys(wrong_results.RESULTS, "result"),
    **dict.fromkeys(wrong_results.OPERANDS, "operand"),
    **dict.fromkeys(STORAGE, "storage"),
    **dict.fromkeys(REFUSAL, "refusal"),
}


@dataclass(frozen=True)
class Fault:
    """A wrong effect under a condition: on which rank and element, counted from the end where negative."""

    effect: str
    condition: Words
    rank: int
    element: int

    @property
    def digest(self) -> str:
        """Return 16 hex digits of all that it is."""
        words = (self.effect, *sorted(self.condition), str(self.rank), str(self.element))
        return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        """Return the effect and the condition in words."""
        when = " and ".join(sorted(self.condition)) or "always"
        return f"{self.effect} (rank {self.rank}, element {self.element}), only with {when}"

    def met(self, words: Words) -> bool:
        """Return whether a collective, or a value, meets the condition."""
        return self.condition <= words

    @property
    def always(self) -> Fault:
        """Return the same without its condition, in the cases of the same dialect."""
        return replace(self, condition=frozenset(word for word in self.condition if word.startswith(DIALECT)))

    @property
    def of_values(self) -> bool:
        """Return whether it is in another dialect than that of programs of collectives."""
        return any(word.startswith(DIALECT) for word in self.condition)


class Faulty(Reference):
    """The reference with one fault. ``applied`` counts how often it changed anything."""

    name = "faulty"

    def __init__(self, fault: Fault, met: Mapping[str, Sequence[int]] = MappingProxyType({})) -> None:
        """Hold the fault; ``met`` has, by the digest of a case, the steps that meet its condition, where known."""
        self.fault, self.applied, self._met = fault, 0, met
        self._now: Step | None = None
        self._wrong: frozenset[int] = frozenset()
        self._ops: frozenset[str] = frozenset()
        self._before: dict[str, list[Any]] = {}

    def execute(self, case: Case) -> Observation:
        """Run the program with the fault in the collectives that meet the condition; never raise."""
        met = self._met.get(digest(case))
        if met is None:
            met = [at for at, words in facts(case) if self.fault.met(words)]
        steps = case.program.steps
        self._wrong = frozenset(id(steps[at]) for at in met)
        self._ops = frozenset(steps[at].op for at in met) if case.troubled else frozenset()
        self._now, self._before = None, {}
        way = WAYS[self.fault.effect]
        if way != "refusal" or not met:
            return super().execute(case)
        if self.fault.effect != "not refused":
            self.applied += 1
            raised: Exception = (
                ValueError("refused") if self.fault.effect == "refused" else NotImplementedError("refused")
            )
            return Observation(errors=(rank_error(raised),) * case.program.world)
        seen = super().execute(case)
        if not seen.raised:
            return seen
        self.applied += 1
        inputs = [operand.blocks for operand in case.inputs.values()]
        blocks = inputs[0] if inputs else (None,) * case.program.world
        return Observation(results=dict.fromkeys(case.program.results, blocks))

    def _walk(self, case: Case, placed: Placed) -> dict[str, tuple[Tensor | None, ...]]:
        values = {name: [view for _, view in ranks] for name, ranks in placed.items()}
        operations = {name: partial(self._operation, name) for name in OPERATIONS}
        return self._run(case, values, operations, _Spoilt(case, placed, self), self._watch)

    def _watch(self, step: Step, operands: list[Any]) -> None:
        del operands
        self._now = step

    @property
    def wrong_now(self) -> bool:
        """Return whether the collective at hand is one that meets the condition."""
        return self._now is not None and id(self._now) in self._wrong

    def _operation(self, name: str, *operands: list[Any], **keywords: Any) -> Any:
        """Do a collective on spoilt operands, or, where ranks go their own ways, with a spoilt result."""
        wrong = name in self._ops if self._now is None else self.wrong_now
        way = WAYS[self.fault.effect]
        if wrong and way == "operand" and operands:
            spoilt = self.spoilt(wrong_results.OPERANDS, list(operands[0]), operands[0])
            operands = (spoilt, *operands[1:])
        made = OPERATIONS[name](*operands, **keywords)
        if wrong and way == "result" and self._now is None and made is not None:
            return self.spoilt(wrong_results.RESULTS, list(made), operands[0] if operands else [])
        return self._apart(name, made, operands, wrong=wrong) if self._now is None and made is not None else made

    def _apart(self, name: str, made: list[Any], operands: Sequence[list[Any]], *, wrong: bool) -> list[Any]:
        """Return a result where ranks go their own ways; the fault may be what stays of a call."""
        key = f"{name} {[getattr(block, 'shape', None) for block in made]}"
        before, self._before[key] = self._before.get(key), list(made)
        if wrong and self.fault.effect == "the operand overwritten" and operands:
            self.applied += flipped(operands[0], self.fault)
        if not wrong or self.fault.effect != "a call as before returns what that one did" or before is None:
            return made
        return self.counted(before, made)

    def counted(self, before: list[Any], right: list[Any]) -> list[Any]:
        """Return the blocks of a call before, and count it if they differ; the right ones where dtypes do."""
        different = any(
            isinstance(one, np.ndarray) and isinstance(two, np.ndarray) and one.tobytes() != two.tobytes()
            for one, two in zip(before, right, strict=True)
        )
        self.applied += different
        alike = all(getattr(a, "dtype", 0) == getattr(b, "dtype", 0) for a, b in zip(before, right, strict=True))
        return before if different and alike else right

    def spoilt(self, ways: dict[str, wrong_results.Wrong], blocks: list[Any], operand: Sequence[Any]) -> list[Any]:
        """Return the blocks with the fault, and count it, or as they are where it can change nothing."""
        made = ways[self.fault.effect](blocks, operand, self.fault.rank, self.fault.element)
        if made is None:
            return blocks
        self.applied += 1
        return made


@dataclass
class _Late:
    """A ticket whose collective is done when it is waited for first."""

    act: Callable[[], list[Ranks]]
    made: list[Ranks] | None = None

    def results(self) -> list[Ranks]:
        if self.made is None:
            self.made = self.act()
        return self.made


class _Spoilt(Stored):
    """The storage of one program, with the fault where it is about storage."""

    def __init__(self, case: Case, placed: Placed, backend: Faulty) -> None:
        super().__init__(case, placed)
        self.backend, self.effect = backend, backend.fault.effect
        self.known: dict[tuple[Any, ...], Ranks] = {}

    def fresh(self, result: Ranks, operand: Ranks) -> Ranks:
        right = super().fresh(result, operand)
        key = (self.backend._now and self.backend._now.op, str([getattr(b, "shape", None) for b in right]))  # noqa: SLF001 - this is its storage
        before = self.known.get(key)
        self.known[key] = [block.copy() if isinstance(block, np.ndarray) else block for block in right]
        if not self.backend.wrong_now:
            return right
        if WAYS[self.effect] == "result":
            return self.backend.spoilt(wrong_results.RESULTS, right, operand)
        if self.effect == "a call as before returns what that one did" and before is not None:
            return self.backend.counted(before, right)
        if self.effect == "the operand overwritten":
            self.backend.applied += flipped(operand, self.backend.fault)
        if self.effect == "the result shares the operand's storage" and operand:
            alike = [_alike(own, block) for own, block in zip(operand, right, strict=False)]
            self.backend.applied += any(alike)
            return [own if same else block for own, block, same in zip(operand, right, alike, strict=False)]
        return right

    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        if not self.backend.wrong_now:
            return super().write(target, result, operand)
        if self.effect == "the target not written":
            self.backend.applied += any(
                isinstance(to, np.ndarray) and wanted is not None and to.tobytes() != wanted.tobytes()
                for to, wanted in zip(target, result, strict=True)
            )
            return target
        if self.effect == "the target's last slice not written":
            for to, wanted in zip(target, result, strict=True):
                if wanted is None:
                    continue
                if to.ndim and to.shape[0]:
                    self.backend.applied += to[-1].tobytes() != wanted[-1].tobytes()
                    to[:-1] = wanted[:-1]
                else:
                    to[...] = wanted
            return target
        made = super().write(target, result, operand)
        if self.effect == "written past the target":
            for to in target:
                self.backend.applied += _past(to)
        return made

    def start(self, act: Callable[[], list[Ranks]], step: Step) -> list[Any]:
        if not self.backend.wrong_now or self.effect != "the operand read when it is waited for":
            return super().start(act, step)
        self.backend.applied += 1

        def late() -> list[Ranks]:
            self.backend._watch(step, [])  # noqa: SLF001 - this is its storage
            return act()

        ticket = _Late(late)
        return [(ticket, number) for number in range(len(step.outputs))]

    def done(self, ticket: Any) -> Ranks:
        if isinstance(ticket, tuple):
            late, number = ticket
            made: Ranks = late.results()[number]
            return made
        return super().done(ticket)


def flipped(operand: Ranks, fault: Fault) -> bool:
    """Change an element of a rank's block, where it has one that may be written; return whether."""
    block = operand[fault.rank % len(operand)] if operand else None
    if not isinstance(block, np.ndarray) or not block.size or not block.flags.writeable:
        return False
    where = np.unravel_index(fault.element % block.size, block.shape)
    block[where] = (
        np.bitwise_not(np.atleast_1d(block[where]).view(np.uint8)).view(block.dtype)[0]
        if block.dtype.kind != "b"
        else not block[where]
    )
    return True


def _alike(own: Any, block: Any) -> bool:
    if not isinstance(own, np.ndarray) or not isinstance(block, np.ndarray):
        return False
    return (own.dtype, own.shape) == (block.dtype, block.shape) and own.tobytes() == block.tobytes()


def _past(block: Any) -> bool:
    """Change the last byte of the storage that a part of it lies in, where that is not its own; return whether."""
    base = block
    while isinstance(getattr(base, "base", None), np.ndarray):
        base = base.base
    if base is block or base.nbytes <= block.nbytes or not base.flags.c_contiguous:
        return False
    raw = base.reshape(-1).view(np.uint8)
    held = block.copy()
    raw[-1] ^= 0xFF
    changed: bool = held.tobytes() == block.tobytes()
    if not changed:
        raw[-1] ^= 0xFF
    return changed


def needs(effect: str) -> frozenset[str]:
    """Return the word that an effect asks of a collective."""
    return frozenset({"legal=no" if REFUSAL.get(effect) else "legal=yes"})


def forms(effect: str) -> tuple[str, ...]:
    """Return the words of which an effect needs one, none where it can show in any collective."""
    return STORAGE.get(effect, ())
