"""Graphs that schedulers are compared on: how many kernels they make of them, and how long those take."""
