"""What a snapshot refers to: manifest lists, manifests, entries, index files."""
