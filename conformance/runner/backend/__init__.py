"""One backend's side of a run: what it is asked, what its answers come to, and which of them are failures."""
