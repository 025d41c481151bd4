"""paimonlab beside its peers: `run.py`."""
