"""What a run was able to see."""
