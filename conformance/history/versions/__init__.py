"""Which version of which package makes a case come out otherwise: a case run in environments of its own."""
