"""What the nodes of a graph compute."""
