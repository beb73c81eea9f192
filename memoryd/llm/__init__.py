"""A task and data into JSON of a given shape, by a chat model, here or at an endpoint; all works without."""
