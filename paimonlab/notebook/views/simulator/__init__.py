"""What writes would cost under other options."""
