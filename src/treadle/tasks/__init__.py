"""asyncio under control: an event loop with virtual time whose steps, timers and cancellations the search chooses."""
