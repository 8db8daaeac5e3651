"""Rewrite rules of the library, in the language of `pb.rewrite`, by what they are about."""
