"""Known failures: their file, and how a run holds them."""
