"""Mistakes about the storage of messages, of ragged exchanges and of positions."""

from __future__ import annotations

import numpy as np

from conformance.backends.reference import Reference, Stored
from conformance.cases.program.program import Groups
from conformance.cases.tensor.dtypes import Array
from conformance.qualification.mutants.effectful import Effectful
from conformance.qualification.mutants.storage import shared
from conformance.reference.effects import Ranks
from conformance.reference.operations.send import Token, send


class _OnlyWhatArrives(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        arrived = [
            block if not isinstance(token, Token) or token.block is not None else None
            for block, token in zip(result, operand, strict=True)
        ]
        return super().write(target, arrived, operand)


class WhoReceivesNothingKeepsItsTarget(Effectful):
    """A receive that nobody sends to is not posted, and its buffer holds what was in it."""

    breaks = "aliasing.C1"
    ops = ("recv",)
    effects = _OnlyWhatArrives


class SendKeepsTheAddress(Reference):
    """What is sent is handed over by address, and read when the receive comes for it."""

    breaks = "async.C2"
    ops = ("recv",)

    def send(self, blocks: list[Array], *, pairs: Groups, groups: Groups) -> list[Token]:
        tokens = send(blocks, pairs=pairs, groups=groups)
        for group in groups:
            for source, destination in pairs:
                sent = tokens[group[destination]].sent
                tokens[group[destination]] = Token(pairs, blocks[group[source]], sent, groups)
        return tokens


class _RowsOfTheTarget(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        for to, block, own in zip(target, result, operand, strict=True):
            written = [row.tobytes() != before.tobytes() for row, before in zip(block, own, strict=True)]
            to[written] = block[written]
        return target


class RaggedRowsAreTheTargets(Effectful):
    """Only what arrives is written, and all other rows are those of the target, not of the operand it stands for."""

    breaks = "aliasing.C1"
    ops = ("ragged_all_to_all",)
    effects = _RowsOfTheTarget


class _CopyInPlace(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        return list(result) if shared(target, operand) else super().write(target, result, operand)


class RaggedOutputIsNotDonated(Effectful):
    """The operand that is to be updated is copied, the copy is updated, and what was handed over stays as it was."""

    breaks = "aliasing.C2"
    ops = ("ragged_all_to_all",)
    effects = _CopyInPlace


class _ComparesWithPositions(Stored):
    def write(self, target: Ranks, result: Ranks, operand: Ranks) -> Ranks:
        if not shared(target, operand):
            return super().write(target, result, operand)
        return super().write(target, [np.zeros_like(block) for block in result], operand)


class PositionsAreWrittenTooEarly(Effectful):
    """In place, positions are cleared before the first comparison, and what is compared is gone."""

    breaks = "aliasing.C2"
    ops = ("arg_reduce",)
    effects = _ComparesWithPositions
