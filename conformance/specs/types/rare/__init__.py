"""Typed programs of kinds that chains of drawn steps seldom come to: draws at fixed numbers have several each."""
