"""The schedule in the neutral form, with bodies."""
