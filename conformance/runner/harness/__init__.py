"""A program that is to speak the worker protocol, tried on the protocol itself: no case is judged."""
