"""One module a family: what is written for each primitive. All are found by name."""
