"""`clew settings`: every setting, its value, and where that came from."""

from rich.text import Text

from clew.cli import terminal
from clew.settings import DEFAULT, Settings, described, variables


def settings(as_json: terminal.AsJson = False) -> None:
    """Show every setting, its value, and where it came from. Secrets are masked."""
    loaded = Settings.load()
    rows = [
        {
            "name": field.name,
            "value": loaded.shown(field.name),
            "source": loaded.source(field.name),
            "variables": variables(field),
            "doc": field.metadata["doc"],
        }
        for field in described()
    ]
    rows += [
        {"name": f"model_{role}", "value": model, "source": f"CLEW_MODEL_{role.upper()}", "variables": [], "doc": ""}
        for role, model in loaded.model_overrides.items()
    ]
    if as_json:
        terminal.print_json(rows)
        return
    table = terminal.grid("setting", "value", "from")
    table.columns[0].no_wrap = True
    for row in rows:
        name = row["variables"][0] if row["variables"] else row["source"]
        value = "—" if row["value"] is None else str(row["value"])
        table.add_row(name, Text(value, style="bold" if row["source"] != DEFAULT else ""), row["source"])
        table.add_row("", Text(row["doc"], style="dim"), "")
    terminal.out.print(table)
