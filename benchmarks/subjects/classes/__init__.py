"""Classes with known faults and their corrected twins, for `treadle class`."""
