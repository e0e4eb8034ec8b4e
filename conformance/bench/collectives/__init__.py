"""How fast collectives are: every implementation in processes of its own, timed in turn, next to a memory copy."""
