"""Actor libraries and mailboxes under control, and Bita's algorithms over the order of their messages."""
