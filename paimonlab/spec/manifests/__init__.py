"""What manifests and index manifests say of files, as values."""
