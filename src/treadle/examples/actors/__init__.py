"""Small actor programs with an ordering bug each, and their corrected twins."""
