"""Is there an input that takes this path, and which one is shown?"""
