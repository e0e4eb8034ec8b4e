"""A program that is to speak the worker protocol, tried on the protocol itself: no case is judged.

Here: checks of the protocol, and the requests that they send.
Not here: judging its answers to cases (``runner.backend``).
"""
