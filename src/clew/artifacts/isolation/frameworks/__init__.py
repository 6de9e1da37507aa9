"""Other people's tools, isolated. Each module imports its framework, and is loaded only for a tool of it."""
