"""Mutants that nobody wrote: changed code of the reference and of the engine, and faults under conditions."""
