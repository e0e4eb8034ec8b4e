"""How draws are steered: which words each should have, which words can meet, and what claims leave of them."""
