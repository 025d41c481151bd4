"""What a query would read, what a call would change."""
