"""Static pages over many runs: who conforms, since when what fails, and how each case came out over time."""
