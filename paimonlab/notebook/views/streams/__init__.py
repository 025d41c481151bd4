"""The streams of a session."""
