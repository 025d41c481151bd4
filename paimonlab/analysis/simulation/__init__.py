"""What a history of writes would cost under other options."""
