"""What Spark SQL text says: its tokens, its string literals, and calls of procedures."""
