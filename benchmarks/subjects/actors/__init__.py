"""Actor programs with a known bug each, and their corrected twins: `run(bug)` breaks in some order, `run("")` in none."""
