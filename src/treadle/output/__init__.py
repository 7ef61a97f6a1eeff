"""What a person gets: console, JSON, pytest files, pictures."""
