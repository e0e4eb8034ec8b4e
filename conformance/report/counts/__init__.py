"""What cases come to: by backend, operation, clause and dtype."""
