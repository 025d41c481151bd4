"""The connections there are."""
