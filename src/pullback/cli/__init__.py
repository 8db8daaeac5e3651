"""Command line: one file for each command, imported when it is run."""
