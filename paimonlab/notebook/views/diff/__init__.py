"""What lies between two snapshots."""
