"""The topics by which a report counts cases: clauses that a reader looks for under one name."""
