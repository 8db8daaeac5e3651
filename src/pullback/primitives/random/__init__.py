"""Random numbers: drawn anew in each run, or functions of a seed."""
