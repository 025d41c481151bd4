"""One script an engine: each runs one work in its own process."""
