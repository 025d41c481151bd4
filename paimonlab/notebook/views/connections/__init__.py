"""Open, configured and offered connections."""
