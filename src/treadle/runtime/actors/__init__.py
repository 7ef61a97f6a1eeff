"""Actor libraries under control: mailboxes that the scheduler sees, and one step per message."""
