"""Data files: how large they are, and what one of them says about itself."""
