"""What differs between two snapshots."""
