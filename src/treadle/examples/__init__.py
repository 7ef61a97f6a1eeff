"""Small programs with the classic mistakes, each beside its corrected twin."""
