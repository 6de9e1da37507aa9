"""Tools whose big results a model sees as summaries: `isolate_tool`, the durable cache, results given back exactly."""
