"""What programs of several steps are drawn from: several calls, steps on storage, and ranks that differ."""
