"""The schedule door: few schedules of an actor program, each of which covers orders of messages not seen before."""
