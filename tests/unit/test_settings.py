import dataclasses
from pathlib import Path

import pytest

from clew import InvalidInput, Settings
from clew.settings import described, mask_url, variables


def test_an_empty_environment_gives_the_promised_defaults():
    settings = Settings.load({})
    assert settings.database_url is None
    assert settings.enable_lifecycle_management is True
    assert settings.enable_handoff_markdown is False
    assert (settings.warning_threshold, settings.critical_threshold) == (0.75, 0.90)
    assert settings.context_window_limit == 200_000
    assert {settings.source(field.name) for field in described()} == {"default"}


PROMISED = {
    "DATABASE_URL": ("database_url", "postgresql://h/d", "postgresql://h/d"),
    "ENABLE_LIFECYCLE_MANAGEMENT": ("enable_lifecycle_management", "false", False),
    "ENABLE_HANDOFF_MARKDOWN": ("enable_handoff_markdown", "true", True),
    "HANDOFF_MARKDOWN_PATH": ("handoff_markdown_path", "/srv/handoffs", Path("/srv/handoffs")),
    "WARNING_THRESHOLD": ("warning_threshold", "0.5", 0.5),
    "CRITICAL_THRESHOLD": ("critical_threshold", "0.95", 0.95),
    "CONTEXT_WINDOW_LIMIT": ("context_window_limit", "128000", 128_000),
}


@pytest.mark.parametrize("prefix", ["", "CLEW_"])
@pytest.mark.parametrize("variable", PROMISED)
def test_each_promised_variable_is_read_with_and_without_the_prefix(prefix, variable):
    name, text, value = PROMISED[variable]
    settings = Settings.load({prefix + variable: text})
    assert getattr(settings, name) == value
    assert settings.source(name) == prefix + variable


def test_the_prefixed_variable_wins():
    settings = Settings.load({"WARNING_THRESHOLD": "0.2", "CLEW_WARNING_THRESHOLD": "0.3"})
    assert (settings.warning_threshold, settings.source("warning_threshold")) == (0.3, "CLEW_WARNING_THRESHOLD")


def test_a_data_folder_may_begin_with_a_tilde():
    assert Settings.load({"CLEW_DATA_DIR": "~/clew"}).data_dir == Path.home() / "clew"


def test_a_role_s_model_can_be_overridden():
    assert Settings.load({"CLEW_MODEL_CONVERSATIONAL": "openai:gpt-4o"}).model_overrides == {
        "conversational": "openai:gpt-4o"
    }


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("CLEW_DATABSE_URL", "CLEW_DATABASE_URL"), ("CLEW_DATADIR", "CLEW_DATA_DIR"), ("CLEW_MODELL", "CLEW_MODELS")],
)
def test_an_unknown_variable_is_refused_with_the_nearest_known_name(wrong, right):
    with pytest.raises(InvalidInput, match=f"{wrong} is not a setting. Did you mean {right}"):
        Settings.load({wrong: "x"})


def test_variables_of_others_are_none_of_our_business():
    assert Settings.load({"PATH": "/bin", "CLEWLESS": "1"}) == Settings.load({})


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("CLEW_POOL_SIZE", "0"),
        ("CLEW_POOL_SIZE", "many"),
        ("CLEW_POOL_SIZE", ""),
        ("WARNING_THRESHOLD", "1e400"),
        ("WARNING_THRESHOLD", "nan"),
        ("WARNING_THRESHOLD", "-1"),
        ("ENABLE_HANDOFF_MARKDOWN", "perhaps"),
        ("CLEW_DATA_DIR", ""),
        ("CONTEXT_WINDOW_LIMIT", "1.5"),
    ],
)
def test_a_malformed_value_is_refused_by_the_name_of_its_variable(variable, text):
    with pytest.raises(InvalidInput, match=f"{variable}: .* won't do: write"):
        Settings.load({variable: text})


def test_a_malformed_database_url_is_refused_without_being_shown():
    with pytest.raises(InvalidInput) as refused:
        Settings.load({"DATABASE_URL": "mysql://root:hunter2@h/d"})
    assert "DATABASE_URL" in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_printing_the_settings_prints_no_password():
    assert "hunter2" not in repr(Settings(database_url="postgresql://u:hunter2@h/d"))


def test_thresholds_in_the_wrong_order_are_refused():
    with pytest.raises(InvalidInput, match=r"WARNING_THRESHOLD \(0.95\) must be below CRITICAL_THRESHOLD \(0.9\)"):
        Settings.load({"WARNING_THRESHOLD": "0.95"})


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings.load({}).pool_size = 3


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:hunter2@h:5432/d",
        "postgresql://:hunter2@h/d",
        "postgresql://u@h/d?password=hunter2&sslmode=require",
        "postgresql://u:hunter2@[::1]/d?sslpassword=hunter2",
        "postgresql://u:p@ss:hunter2@h/d",
    ],
)
def test_a_masked_url_shows_no_secret(url):
    masked = mask_url(url)
    assert "hunter2" not in masked
    assert "***" in masked


def test_every_setting_says_what_it_is_for_and_has_a_prefixed_variable():
    assert all(field.metadata["doc"].endswith((".", "…")) for field in described())
    assert all(variables(field)[0].startswith("CLEW_") for field in described())
