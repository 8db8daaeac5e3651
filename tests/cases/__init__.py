"""The case table: sample rows for every primitive, one module a family, each with a list `CASES`."""
