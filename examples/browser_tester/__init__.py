"""An agent that tests a shop in a real browser, and is quicker the second time."""
