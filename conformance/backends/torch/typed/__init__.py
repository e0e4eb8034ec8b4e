"""Typed programs under Torch: autograd through collectives."""
