"""How Alembic runs our migrations: in one transaction, one process at a time, as the owner of the tables."""

from alembic import context

from clew.limits import MIGRATION_LOCK_TIMEOUT_MS
from clew.store.named_sql import statements

roles = statements("roles")
connection = context.config.attributes["connection"]
driver = connection.connection.driver_connection
context.configure(connection=connection, version_table_schema="clew", transaction_per_migration=False)
with context.begin_transaction():
    driver.execute(f"SET LOCAL lock_timeout = {MIGRATION_LOCK_TIMEOUT_MS}")
    driver.execute(roles.lock)
    driver.execute(roles.create_roles)
    driver.execute(roles.create_extension)
    driver.execute(roles.create_schema)
    driver.execute(roles.become_owner)
    context.run_migrations()
    driver.execute(roles.open_schema)
    driver.execute(roles.raise_walls)
