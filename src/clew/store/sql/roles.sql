-- Who owns the tables, who may use them, and the schema they are in. Run at the start of every migration, by the login
-- that migrates; each statement changes nothing when its work is done already.

-- name: lock
-- Two processes that start at once migrate one after the other. The lock ends with the transaction, so that it also
-- works behind pgbouncer.
SELECT pg_advisory_xact_lock(hashtext('clew.migrate'));

-- name: create_roles
-- Roles belong to the whole server: another database's migration may be making them at this moment.
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['clew_owner', 'clew_app'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', role_name);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;
    END;
    IF NOT pg_has_role(CURRENT_USER, role_name, 'SET') THEN
      EXECUTE format('GRANT %I TO CURRENT_USER WITH SET TRUE', role_name);
    END IF;
  END LOOP;
END $$;

-- name: create_extension
-- Vectors. On servers that others run, an administrator may have to do this once.
CREATE EXTENSION IF NOT EXISTS vector;

-- name: create_schema
-- The owner of the schema owns the tables; it is not the role that the application uses.
CREATE SCHEMA IF NOT EXISTS clew AUTHORIZATION clew_owner;
CREATE SCHEMA IF NOT EXISTS clew_lg_00 AUTHORIZATION clew_owner;
CREATE SCHEMA IF NOT EXISTS clew_jobs AUTHORIZATION clew_owner;

-- name: become_owner
-- From here on, everything that a migration makes belongs to the owner.
SET LOCAL ROLE clew_owner;

-- name: open_schema
-- The application may use what is in the schema, and add nothing to it.
GRANT USAGE ON SCHEMA clew, clew_lg_00, clew_jobs TO clew_app;
GRANT SELECT ON clew.alembic_version TO clew_app;

-- name: raise_walls
-- Every table with a tenant gets its wall, so that no migration can forget one. The policy calls current_setting()
-- plainly: wrapped in a SELECT it hides the tenant's size from the planner (recall@10 fell to 0.03 when measured).
-- LangGraph's tables have no tenant_id: their thread ids are `tenant/thread`, and a tenant id holds no slash. Jobs are
-- nobody's, and name tenants in their arguments: they are seen where no tenant is set.
DO $$
DECLARE
  wall record;
BEGIN
  FOR wall IN
    SELECT c.oid::regclass AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
           EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'tenant_wall') AS has_policy,
           CASE a.attname WHEN 'tenant_id' THEN 'tenant_id' ELSE 'split_part(thread_id, ''/'', 1)' END AS tenant
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname ~ '^clew(_lg_[0-9]{2})?$'
      JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                         AND a.attname = CASE n.nspname WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
     WHERE c.relkind IN ('r', 'p')
  LOOP
    IF NOT wall.forced THEN
      EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', wall.name);
      EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', wall.name);
    END IF;
    IF NOT wall.has_policy THEN
      EXECUTE format(
        'CREATE POLICY tenant_wall ON %1$s USING (%2$s = current_setting(''clew.tenant_id'', true)) '
        'WITH CHECK (%2$s = current_setting(''clew.tenant_id'', true))', wall.name, wall.tenant);
    END IF;
  END LOOP;
  FOR wall IN
    SELECT c.oid::regclass AS name, c.relrowsecurity AND c.relforcerowsecurity AS forced,
           EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname = 'jobs_wall') AS has_policy
      FROM pg_class c
     WHERE c.relnamespace = 'clew_jobs'::regnamespace AND c.relkind IN ('r', 'p')
  LOOP
    IF NOT wall.forced THEN
      EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', wall.name);
      EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', wall.name);
    END IF;
    IF NOT wall.has_policy THEN
      EXECUTE format(
        'CREATE POLICY jobs_wall ON %s USING (coalesce(current_setting(''clew.tenant_id'', true), '''') = '''')',
        wall.name);
    END IF;
  END LOOP;
END $$;
