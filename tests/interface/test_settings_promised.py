"""The promised environment variables, plain and as CLEW_…, and their defaults."""

import pytest

from clew import ClewError, Settings

DEFAULTS = {
    "enable_lifecycle_management": True,
    "enable_handoff_markdown": False,
    "warning_threshold": 0.75,
    "critical_threshold": 0.90,
    "context_window_limit": 200_000,
}
CHANGED = [
    ("ENABLE_LIFECYCLE_MANAGEMENT", "false", "enable_lifecycle_management", False),
    ("ENABLE_HANDOFF_MARKDOWN", "true", "enable_handoff_markdown", True),
    ("WARNING_THRESHOLD", "0.5", "warning_threshold", 0.5),
    ("CRITICAL_THRESHOLD", "0.8", "critical_threshold", 0.8),
    ("CONTEXT_WINDOW_LIMIT", "1000", "context_window_limit", 1_000),
    ("HANDOFF_MARKDOWN_PATH", "/tmp/handoffs", "handoff_markdown_path", "/tmp/handoffs"),
    ("DATABASE_URL", "postgresql://u@h/d", "database_url", "postgresql://u@h/d"),
]


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_the_promised_ones(name):
    assert getattr(Settings.load({}), name) == DEFAULTS[name]


@pytest.mark.parametrize("prefix", ["", "CLEW_"])
@pytest.mark.parametrize(("variable", "text", "name", "value"), CHANGED, ids=[row[0] for row in CHANGED])
def test_each_variable_is_honoured_plain_and_with_the_prefix(prefix, variable, text, name, value):
    found = getattr(Settings.load({f"{prefix}{variable}": text}), name)
    found = found.get_secret_value() if hasattr(found, "get_secret_value") else found
    assert (found if isinstance(value, bool | float | int) else str(found)) == value


def test_the_data_folder_is_honoured(tmp_path):
    assert Settings.load({"CLEW_DATA_DIR": str(tmp_path)}).data_dir == tmp_path


@pytest.mark.parametrize("environ", [{"WARNING_THRESHOLD": "lots"}, {"CLEW_CONTEXT_WINDOW_LIMIT": "-1"}])
def test_a_value_that_cannot_be_is_refused_with_its_variable(environ):
    with pytest.raises(ClewError, match=next(iter(environ))):
        Settings.load(environ)
