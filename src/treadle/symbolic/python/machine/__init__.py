"""What each step of the IR means on Python values."""
