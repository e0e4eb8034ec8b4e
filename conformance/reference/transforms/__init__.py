"""Transforms of typed programs: the pullback of cotangents, and the pairing that says what it must be.

Which transposes an implementation must have stands in ``specs.types``.
"""
