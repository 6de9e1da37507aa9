"""Clew inside the frameworks people already run; each module needs its framework, and none is loaded with `clew`."""
