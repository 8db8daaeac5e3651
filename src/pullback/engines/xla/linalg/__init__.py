"""XLA lowering of linear algebra."""
