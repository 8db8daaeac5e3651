"""Writers of linear algebra."""
