"""One file for each operation: its domain, clauses, examples and names."""
