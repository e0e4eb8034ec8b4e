"""Transforms of typed programs: the pullback of cotangents, and the pairing that says what it must be."""
