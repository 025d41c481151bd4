"""Rows as they were."""
