"""Who is judged: the protocol, and one folder for each implementation."""
