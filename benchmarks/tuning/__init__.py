"""What each advice of docs/tuning.md brings: the same work before and after."""
