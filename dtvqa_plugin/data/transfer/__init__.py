"""Getting data into the store and out of it."""
