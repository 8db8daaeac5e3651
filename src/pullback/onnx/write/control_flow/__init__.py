"""Writers of calls, branches and loops."""
