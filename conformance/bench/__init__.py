"""How fast: the suite itself, and collectives beside other implementations."""
