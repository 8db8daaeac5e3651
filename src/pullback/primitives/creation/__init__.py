"""Array creation: constants, placeholders, filled arrays, ranges."""
