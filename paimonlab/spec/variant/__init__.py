"""VARIANT values: their bytes to JSON texts and back."""
