"""Mutants that nobody wrote: the reference's code and the native engine's changed, and wrong effects under conditions."""
