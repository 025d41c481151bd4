"""What it takes to bring changes of other systems into tables; servers are those of the tests."""
