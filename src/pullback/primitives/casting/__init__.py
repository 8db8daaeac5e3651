"""Type conversion (cast) between dtypes."""
