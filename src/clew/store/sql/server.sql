-- What kind of server this is.

-- name: versions
-- One row, whatever is missing.
SELECT current_setting('server_version_num')::int AS server_version_num,
       current_setting('server_version') AS server_version,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_installed,
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS vector_available,
       to_regclass('clew.alembic_version') IS NOT NULL AS migrated,
       pg_has_role(CURRENT_USER, (SELECT oid FROM pg_roles WHERE rolname = 'clew_app'), 'SET') AS may_become_app,
       (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = CURRENT_USER) AS login_is_privileged;

-- name: revision
-- Which migration this database is at.
SELECT version_num FROM clew.alembic_version;
