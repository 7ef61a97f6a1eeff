"""Python: from source to IR, and what each step of it means on known and unknown values."""
