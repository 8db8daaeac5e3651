"""The library's own rewrite rules, in the language of `pb.rewrite`, by what they are about."""
