-- What kind of server this is.

-- name: versions
-- One row, whatever is missing, for a login that may not even look into our schema.
SELECT current_setting('server_version_num')::int AS server_version_num,
       current_setting('server_version') AS server_version,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_installed,
       (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS vector_available,
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = 'clew' AND c.relname = 'alembic_version') AS migrated,
       CASE WHEN current_setting('server_version_num')::int >= 160000
            THEN pg_has_role(CURRENT_USER, (SELECT oid FROM pg_roles WHERE rolname = 'clew_app'), 'SET') END AS may_become_app,
       (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = CURRENT_USER) AS login_is_privileged;

-- name: revision
-- Which migration this database is at.
SELECT version_num FROM clew.alembic_version;
