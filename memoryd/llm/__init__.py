"""Text models: turn a task and data into JSON of a given shape, with a local or remote chat model. Optional."""
