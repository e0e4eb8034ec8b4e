"""Running automatic mutants: the right answers, the stages, and the verdict on each."""
