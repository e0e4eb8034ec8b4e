"""The data of the suite: programs, tensors, cases and observations, all plain values that survive a trip to disk."""
