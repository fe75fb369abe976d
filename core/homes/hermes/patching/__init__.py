"""How a patch finds its place in a file, and what it leaves there."""
