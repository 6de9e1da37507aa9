"""Tests of clew.messages."""
