-- What must be true of the walls between tenants. Each statement answers with one row per breach: the thing that is
-- wrong, what is wrong with it, and what to do. No rows, no breach. Our tables, in schema clew, say whose a row is in
-- tenant_id; LangGraph's, in clew_lg_00 and its siblings, in the part of thread_id before the first slash.

-- name: role_can_bypass
-- A superuser or a BYPASSRLS role walks through every policy; a replication role reads the whole cluster.
SELECT format('role %s', r.rolname),
       concat_ws(', ', CASE WHEN r.rolsuper THEN 'is a superuser' END,
                       CASE WHEN r.rolbypassrls THEN 'has BYPASSRLS' END,
                       CASE WHEN r.rolreplication THEN 'has REPLICATION' END,
                       CASE WHEN r.rolcreaterole THEN 'has CREATEROLE' END),
       format('ALTER ROLE %I NOSUPERUSER NOBYPASSRLS NOREPLICATION NOCREATEROLE', r.rolname)
  FROM pg_roles r
 WHERE r.rolname IN ('clew_app', 'clew_owner')
   AND (r.rolsuper OR r.rolbypassrls OR r.rolreplication OR r.rolcreaterole);

-- name: role_can_become_another
-- Membership lends the other role's powers: the owner's, a superuser's, or PostgreSQL's own read-everything roles.
SELECT 'role clew_app', format('is a member of %s', r.rolname), format('REVOKE %I FROM clew_app', r.rolname)
  FROM pg_roles r
 WHERE r.rolname <> 'clew_app' AND pg_has_role('clew_app', r.oid, 'MEMBER');

-- name: role_owns_tables
-- An owner can switch its own walls off.
SELECT format('table %s', c.oid::regclass), 'is owned by clew_app', format('ALTER TABLE %s OWNER TO clew_owner', c.oid::regclass)
  FROM pg_class c
 WHERE c.relkind IN ('r', 'p', 'v', 'm') AND c.relowner = 'clew_app'::regrole
 UNION ALL
SELECT format('schema %I', n.nspname), 'lets clew_app create things in it',
       format('REVOKE CREATE ON SCHEMA %1$I FROM clew_app, PUBLIC; ALTER SCHEMA %1$I OWNER TO clew_owner', n.nspname)
  FROM pg_namespace n
 WHERE n.nspname ~ '^clew(_lg_[0-9]{2})?$' AND has_schema_privilege('clew_app', n.oid, 'CREATE');

-- name: row_security_off
-- Enabled binds everybody but the owner; forced binds the owner too. Children of a tenant's table count, wherever they are.
WITH RECURSIVE tenant_tables AS (
  SELECT c.oid
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname ~ '^clew(_lg_[0-9]{2})?$'
    JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                         AND a.attname = CASE n.nspname WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
   WHERE c.relkind IN ('r', 'p')
   UNION
  SELECT i.inhrelid FROM pg_inherits i JOIN tenant_tables t ON t.oid = i.inhparent
)
SELECT format('table %s', c.oid::regclass),
       CASE WHEN NOT c.relrowsecurity THEN 'has row security off' ELSE 'does not force row security on its owner' END,
       'clew migrate'
  FROM pg_class c JOIN tenant_tables t ON t.oid = c.oid
 WHERE NOT (c.relrowsecurity AND c.relforcerowsecurity);

-- name: table_without_tenant
-- No row without a tenant: a table of ours either has the column, never null, or is on the short list of those that need none.
SELECT format('table %s', c.oid::regclass),
       CASE WHEN a.attname IS NULL THEN format('has no %s', w.key) ELSE 'allows rows without a tenant' END,
       format('ALTER TABLE … ALTER %s SET NOT NULL, or drop the table', w.key)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname ~ '^clew(_lg_[0-9]{2})?$'
  CROSS JOIN LATERAL (SELECT CASE n.nspname WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END AS key) AS w
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = w.key AND NOT a.attisdropped
 WHERE c.relkind IN ('r', 'p', 'f')
   AND c.relname <> CASE n.nspname WHEN 'clew' THEN 'alembic_version' ELSE 'checkpoint_migrations' END
   AND a.attnotnull IS DISTINCT FROM true;

-- name: policy_missing
-- The one policy that every tenant's table has, in exactly these words, for every command and every role.
SELECT format('table %s', c.oid::regclass), 'lacks the policy tenant_wall, or has it in other words',
       format('DROP POLICY IF EXISTS tenant_wall ON %s; then clew migrate', c.oid::regclass)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname ~ '^clew(_lg_[0-9]{2})?$'
  JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                       AND a.attname = CASE n.nspname WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
  CROSS JOIN LATERAL (
    SELECT CASE n.nspname WHEN 'clew' THEN '(tenant_id = current_setting(''clew.tenant_id''::text, true))'
                          ELSE '(split_part(thread_id, ''/''::text, 1) = current_setting(''clew.tenant_id''::text, true))' END AS words
  ) AS wall
 WHERE c.relkind IN ('r', 'p')
   AND NOT EXISTS (
     SELECT FROM pg_policy p
      WHERE p.polrelid = c.oid AND p.polname = 'tenant_wall' AND p.polcmd = '*' AND p.polpermissive AND p.polroles = '{0}'
        AND pg_get_expr(p.polqual, p.polrelid) = wall.words
        AND pg_get_expr(p.polwithcheck, p.polrelid) = wall.words);

-- name: policy_extra
-- Permissive policies are joined with OR: any second one is a hole.
SELECT format('table %s', p.polrelid::regclass), format('has the policy %s beside the wall', p.polname),
       format('DROP POLICY %I ON %s', p.polname, p.polrelid::regclass)
  FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND p.polname <> 'tenant_wall' AND p.polpermissive;

-- name: view_over_tenants
-- A materialised view holds every tenant's rows and has no row security; a plain view reads with its owner's eyes
-- unless it says otherwise.
SELECT DISTINCT format('%s %s', CASE v.relkind WHEN 'm' THEN 'materialised view' ELSE 'view' END, v.oid::regclass),
       CASE v.relkind WHEN 'm' THEN 'holds tenants'' rows without a wall' ELSE 'reads tenants'' rows with its owner''s eyes' END,
       CASE v.relkind WHEN 'm' THEN format('DROP MATERIALIZED VIEW %s', v.oid::regclass)
                      ELSE format('ALTER VIEW %s SET (security_invoker = true)', v.oid::regclass) END
  FROM pg_class v
  JOIN pg_rewrite r ON r.ev_class = v.oid
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
  JOIN pg_class c ON c.oid = d.refobjid AND c.oid <> v.oid
 WHERE v.relkind IN ('v', 'm') AND c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$'
   AND NOT (v.relkind = 'v' AND COALESCE(v.reloptions @> ARRAY['security_invoker=true'], false));

-- name: function_with_owners_power
-- SECURITY DEFINER lends its owner's eyes to whoever may call it.
SELECT format('function %s', p.oid::regprocedure), 'runs with its owner''s power and clew_app may call it',
       format('REVOKE EXECUTE ON FUNCTION %s FROM clew_app, PUBLIC', p.oid::regprocedure)
  FROM pg_proc p
 WHERE p.prosecdef AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
   AND has_function_privilege('clew_app', p.oid, 'EXECUTE')
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e');

-- name: privilege_past_policies
-- TRUNCATE asks no policy, and REFERENCES and TRIGGER reach past them.
SELECT format('table %s', c.oid::regclass), format('grants %s to clew_app', p.privilege),
       format('REVOKE %s ON %s FROM clew_app, PUBLIC', p.privilege, c.oid::regclass)
  FROM pg_class c CROSS JOIN (VALUES ('TRUNCATE'), ('REFERENCES'), ('TRIGGER')) AS p (privilege)
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p')
   AND has_table_privilege('clew_app', c.oid, p.privilege);

-- name: tenant_by_default
-- A default tenant would answer whoever forgets to say which.
SELECT concat_ws(' ', CASE WHEN s.setrole = 0 THEN 'database' ELSE 'role' END,
                 CASE WHEN s.setrole = 0 THEN (SELECT datname FROM pg_database WHERE oid = s.setdatabase)
                      ELSE s.setrole::regrole::text END),
       'sets a tenant by default', 'ALTER … RESET clew.tenant_id'
  FROM pg_db_role_setting s
 WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
   AND EXISTS (SELECT FROM unnest(s.setconfig) AS setting WHERE setting LIKE 'clew.tenant\_id=%');

-- name: key_across_tenants
-- A unique key that does not begin with the tenant tells one tenant what another has.
SELECT format('index %s', i.indexrelid::regclass), 'is unique across tenants', format('Make %s its first column', a.attname)
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname ~ '^clew(_lg_[0-9]{2})?$'
  JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                       AND a.attname = CASE n.nspname WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
 WHERE i.indisunique AND i.indkey[0] <> a.attnum
 UNION ALL
SELECT format('foreign key %s on %s', f.conname, f.conrelid::regclass), 'reaches across tenants', 'Make tenant_id its first column'
  FROM pg_constraint f
  JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attname = 'tenant_id' AND NOT a.attisdropped
 WHERE f.contype = 'f' AND f.connamespace = 'clew'::regnamespace AND f.conkey[1] <> a.attnum;
