"""The statements that were run, and their parameters."""
