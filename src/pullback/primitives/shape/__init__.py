"""Shape manipulation: elements move, none is computed."""
