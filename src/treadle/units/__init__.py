"""Units under test: from one function to the cases of its paths, and to real calls where no path can be followed."""
