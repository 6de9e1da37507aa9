"""Test results made light: pictures, pages, logs and long texts become artifacts, the shape stays."""
