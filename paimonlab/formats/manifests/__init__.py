"""Manifests, manifest lists and index manifests as bytes and as Arrow."""
