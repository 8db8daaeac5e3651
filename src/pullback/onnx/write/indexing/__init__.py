"""Writers of indexing."""
