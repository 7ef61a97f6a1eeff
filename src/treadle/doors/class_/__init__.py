"""The class door: concurrent tests for a class, from nothing but the class."""
