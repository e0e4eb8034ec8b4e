"""The data of the suite: programs, tensors, cases and observations, all plain values that survive a trip to disk.

Nothing here computes what a case means (``reference``), draws one (``generate``) or says what must hold (``specs``).
"""
