"""The deck as files for any language: each case with its inputs and with which results are right, bit by bit.

The deck itself is in ``vectors``; a reader of these files needs nothing of this package.
"""
