-- What must be true of the walls between tenants. Each statement answers with one row per breach: the thing that is
-- wrong, what is wrong with it, and what to do. No rows, no breach. Our tables, in schema clew, say whose a row is in
-- tenant_id; LangGraph's, in clew_lg_00 and its siblings, in the part of thread_id before the first slash. Background
-- work, in clew_jobs, is no tenant's, and no tenant sees it.

-- name: role_can_bypass
-- A superuser or a BYPASSRLS role walks through every policy; a replication role reads the whole cluster. So does
-- whoever may become one.
SELECT DISTINCT format('role %s', who.rolname),
       CASE WHEN power.oid = who.oid THEN '' ELSE format('may become %s, which ', power.rolname) END ||
       concat_ws(', ', CASE WHEN power.rolsuper THEN 'is a superuser' END,
                       CASE WHEN power.rolbypassrls THEN 'has BYPASSRLS' END,
                       CASE WHEN power.rolreplication THEN 'has REPLICATION' END,
                       CASE WHEN power.rolcreaterole THEN 'has CREATEROLE' END),
       CASE WHEN power.oid = who.oid THEN format('ALTER ROLE %I NOSUPERUSER NOBYPASSRLS NOREPLICATION NOCREATEROLE', who.rolname)
            ELSE format('REVOKE %I FROM %I', power.rolname, who.rolname) END
  FROM pg_roles who
  JOIN pg_roles power ON power.oid = who.oid OR (pg_has_role(who.oid, power.oid, 'MEMBER') AND NOT who.rolsuper)
 WHERE who.rolname IN ('clew_app', 'clew_owner')
   AND (power.rolsuper OR power.rolbypassrls OR power.rolreplication OR power.rolcreaterole);

-- name: role_can_become_another
-- Membership lends the other role's powers: the owner's, a superuser's, or PostgreSQL's own read-everything roles.
SELECT 'role clew_app', format('is a member of %s', r.rolname), format('REVOKE %I FROM clew_app', r.rolname)
  FROM pg_roles r
 WHERE r.rolname <> 'clew_app' AND pg_has_role('clew_app', r.oid, 'MEMBER')
   AND NOT (SELECT rolsuper FROM pg_roles WHERE rolname = 'clew_app');

-- name: role_owns_tables
-- An owner can switch its own walls off.
SELECT format('table %s', c.oid::regclass), 'is owned by clew_app', format('ALTER TABLE %s OWNER TO clew_owner', c.oid::regclass)
  FROM pg_class c
 WHERE c.relkind IN ('r', 'p', 'v', 'm') AND c.relowner = 'clew_app'::regrole
 UNION ALL
SELECT format('schema %I', n.nspname), 'lets clew_app create things in it',
       format('REVOKE CREATE ON SCHEMA %1$I FROM clew_app, PUBLIC; ALTER SCHEMA %1$I OWNER TO clew_owner', n.nspname)
  FROM pg_namespace n
 WHERE n.nspname ~ '^clew(_lg_[0-9]{2}|_jobs)?$' AND has_schema_privilege('clew_app', n.oid, 'CREATE');

-- name: row_security_off
-- Enabled binds everybody but the owner; forced binds the owner too. Children of a tenant's table count, wherever they are.
WITH RECURSIVE tenant_tables AS (
  SELECT c.oid
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                      AND a.attname = CASE c.relnamespace::regnamespace::text WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
   WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p')
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
       CASE WHEN a.attname IS NULL THEN 'has no column that says whose a row is' ELSE 'allows rows without a tenant' END,
       'ALTER TABLE … ALTER tenant_id SET NOT NULL, or drop the table'
  FROM pg_class c
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                           AND a.attname = CASE c.relnamespace::regnamespace::text WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p', 'f')
   AND c.relname NOT IN ('alembic_version', 'checkpoint_migrations') AND a.attnotnull IS DISTINCT FROM true;

-- name: policy_missing
-- The one policy that every tenant's table has, in exactly these words, for every command and every role.
SELECT format('table %s', c.oid::regclass), 'lacks the policy tenant_wall, or has it in other words',
       format('DROP POLICY IF EXISTS tenant_wall ON %s; then clew migrate', c.oid::regclass)
  FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                      AND a.attname = CASE c.relnamespace::regnamespace::text WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p')
   AND NOT EXISTS (
     SELECT FROM pg_policy p
      WHERE p.polrelid = c.oid AND p.polname = 'tenant_wall' AND p.polcmd = '*' AND p.polpermissive AND p.polroles = '{0}'
        AND pg_get_expr(p.polqual, p.polrelid) = pg_get_expr(p.polwithcheck, p.polrelid)
        AND pg_get_expr(p.polqual, p.polrelid) = CASE a.attname
              WHEN 'tenant_id' THEN '(tenant_id = current_setting(''clew.tenant_id''::text, true))'
              ELSE '(split_part(thread_id, ''/''::text, 1) = current_setting(''clew.tenant_id''::text, true))' END);

-- name: policy_extra
-- Permissive policies are joined with OR: any second one is a hole.
SELECT format('table %s', p.polrelid::regclass), format('has the policy %s beside the wall', p.polname),
       format('DROP POLICY %I ON %s', p.polname, p.polrelid::regclass)
  FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND p.polname <> 'tenant_wall' AND p.polpermissive;

-- name: view_over_tenants
-- A materialised view holds every tenant's rows and has no row security; a plain view reads with its owner's eyes unless
-- it says otherwise. Any view that reads from our schema, and any view in it.
SELECT DISTINCT format('%s %s', CASE v.relkind WHEN 'm' THEN 'materialised view' ELSE 'view' END, v.oid::regclass),
       CASE v.relkind WHEN 'm' THEN 'holds tenants'' rows without a wall' ELSE 'reads tenants'' rows with its owner''s eyes' END,
       CASE v.relkind WHEN 'm' THEN format('DROP MATERIALIZED VIEW %s', v.oid::regclass)
                      ELSE format('ALTER VIEW %s SET (security_invoker = true)', v.oid::regclass) END
  FROM pg_class v
 WHERE v.relkind IN ('v', 'm')
   AND (v.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2}|_jobs)?$' OR EXISTS (
         SELECT FROM pg_rewrite r
           JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
           JOIN pg_class c ON c.oid = d.refobjid AND c.oid <> v.oid AND c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2}|_jobs)?$'
          WHERE r.ev_class = v.oid))
   AND NOT (v.relkind = 'v' AND EXISTS (
         SELECT FROM pg_options_to_table(v.reloptions) AS o
          WHERE o.option_name = 'security_invoker' AND o.option_value::boolean));

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
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2}|_jobs)?$' AND c.relkind IN ('r', 'p')
   AND (has_table_privilege('clew_app', c.oid, p.privilege)
        OR p.privilege = 'REFERENCES' AND has_any_column_privilege('clew_app', c.oid, 'REFERENCES'));

-- name: tenant_by_default
-- A default tenant would answer whoever forgets to say which.
SELECT concat_ws(' ', CASE WHEN s.setrole = 0 THEN 'database' ELSE 'role' END,
                 CASE WHEN s.setrole = 0 THEN (SELECT datname FROM pg_database WHERE oid = s.setdatabase)
                      ELSE s.setrole::regrole::text END),
       'sets a tenant by default', 'ALTER … RESET clew.tenant_id'
  FROM pg_db_role_setting s
 WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
   AND EXISTS (SELECT FROM unnest(s.setconfig) AS setting WHERE lower(setting) LIKE 'clew.tenant\_id=%')
 UNION ALL
SELECT format('role %s', session_user), 'has a tenant as soon as it connects',
       'Remove clew.tenant_id from postgresql.conf, the address, and any login trigger'
 WHERE coalesce(current_setting('clew.tenant_id', true), '') <> '';

-- name: key_across_tenants
-- A unique key that does not begin with the tenant tells one tenant what another has.
SELECT format('index %s', i.indexrelid::regclass), 'is unique across tenants', 'Make tenant_id its first column'
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indrelid
  JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                      AND a.attname = CASE c.relnamespace::regnamespace::text WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND (i.indisunique OR i.indisexclusion) AND i.indkey[0] <> a.attnum
 UNION ALL
SELECT format('foreign key %s on %s', f.conname, f.conrelid::regclass), 'reaches across tenants', 'Make tenant_id its first column'
  FROM pg_constraint f
  JOIN pg_class target ON target.oid = f.confrelid
  LEFT JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attname = 'tenant_id' AND NOT a.attisdropped
  LEFT JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attname = 'tenant_id' AND NOT b.attisdropped
 WHERE f.contype = 'f' AND target.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$'
   AND (f.conkey[1] IS DISTINCT FROM a.attnum OR f.confkey[1] IS DISTINCT FROM b.attnum);

-- name: tenant_table_of_another_owner
-- The owner's own rules apply to it: a superuser's table is read by that superuser's views and functions.
SELECT format('table %s', c.oid::regclass), format('is owned by %s', c.relowner::regrole), format('ALTER TABLE %s OWNER TO clew_owner', c.oid::regclass)
  FROM pg_class c
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2}|_jobs)?$' AND c.relkind IN ('r', 'p') AND c.relowner NOT IN ('clew_owner'::regrole, 'clew_app'::regrole);

-- name: table_that_cannot_have_a_wall
-- Row security does not exist for foreign tables.
SELECT format('foreign table %s', c.oid::regclass), 'can have no row security', format('DROP FOREIGN TABLE %s', c.oid::regclass)
  FROM pg_class c
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind = 'f';

-- name: rule_on_table
-- A rule rewrites a statement into others, which run with the power of the table's owner.
SELECT format('table %s', c.oid::regclass), format('has the rule %s, which acts with its owner''s power', r.rulename),
       format('DROP RULE %I ON %s', r.rulename, c.oid::regclass)
  FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2}|_jobs)?$' AND c.relkind IN ('r', 'p');

-- name: trigger_with_owners_power
-- A trigger runs its function whether or not the caller may.
SELECT format('table %s', t.tgrelid::regclass), format('has the trigger %s, which runs with the power of the owner of %s', t.tgname, p.oid::regprocedure),
       format('ALTER FUNCTION %s SECURITY INVOKER', p.oid::regprocedure)
  FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_class c ON c.oid = t.tgrelid
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2}|_jobs)?$' AND NOT t.tgisinternal AND p.prosecdef;

-- name: parent_of_tenants
-- Whoever reads a parent reads its children's rows by the parent's policies alone.
WITH RECURSIVE above AS (
  SELECT i.inhparent, i.inhrelid
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p', 'f')
   UNION
  SELECT i.inhparent, i.inhrelid FROM pg_inherits i JOIN above ON above.inhparent = i.inhrelid
)
SELECT format('table %s', p.oid::regclass), format('is a parent of %s in another schema', above.inhrelid::regclass),
       format('ALTER TABLE %s NO INHERIT %s', above.inhrelid::regclass, p.oid::regclass)
  FROM above JOIN pg_class p ON p.oid = above.inhparent
 WHERE p.relnamespace::regnamespace::text !~ '^clew(_lg_[0-9]{2})?$';

-- name: child_elsewhere
-- Policies are checked in schema clew only, so a child belongs there.
WITH RECURSIVE below AS (
  SELECT i.inhrelid FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent
   WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p')
   UNION
  SELECT i.inhrelid FROM pg_inherits i JOIN below ON below.inhrelid = i.inhparent
)
SELECT format('table %s', c.oid::regclass), 'holds rows of a table in schema clew, outside of it', format('ALTER TABLE %s SET SCHEMA clew; then clew migrate', c.oid::regclass)
  FROM below JOIN pg_class c ON c.oid = below.inhrelid
 WHERE c.relnamespace::regnamespace::text !~ '^clew(_lg_[0-9]{2})?$';

-- name: reach_outside_the_schema
-- A copy of tenants' rows, or a view of them, has no wall outside our schema, and the application needs none there.
-- Ours have a tenant_id, LangGraph's a checkpoint_ns; tables without either are somebody else's business.
SELECT format('%s %s', CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialised view' WHEN 'f' THEN 'foreign table' ELSE 'table' END, c.oid::regclass),
       'outside schema clew may be read or written by clew_app', format('REVOKE ALL ON %s FROM clew_app, PUBLIC', c.oid::regclass)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname IN ('tenant_id', 'checkpoint_ns') AND NOT a.attisdropped
 WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
   AND n.nspname NOT IN ('clew', 'pg_catalog', 'information_schema', 'pg_toast') AND n.nspname !~ '^clew_lg_[0-9]{2}$' AND n.nspname NOT LIKE 'pg\_temp\_%'
   AND n.nspname NOT LIKE 'pg\_toast\_temp\_%'
   AND (has_any_column_privilege('clew_app', c.oid, 'SELECT, INSERT, UPDATE') OR has_table_privilege('clew_app', c.oid, 'DELETE'))
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e');

-- name: function_that_looks_first
-- PostgreSQL asks a LEAKPROOF function before it asks the policy.
SELECT format('function %s', p.oid::regprocedure), 'is LEAKPROOF and clew_app may call it: it sees rows before the policy does',
       format('ALTER ROUTINE %s NOT LEAKPROOF', p.oid::regprocedure)
  FROM pg_proc p
 WHERE p.proleakproof AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
   AND has_function_privilege('clew_app', p.oid, 'EXECUTE')
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e');

-- name: reach_into_the_server
-- What PostgreSQL keeps from everybody (files, statistics, raw large objects) knows nothing of policies.
SELECT format('function %s', p.oid::regprocedure), 'is PostgreSQL''s own, not for everyone, and clew_app may call it',
       format('REVOKE EXECUTE ON FUNCTION %s FROM clew_app, PUBLIC', p.oid::regprocedure)
  FROM pg_proc p JOIN pg_init_privs i ON i.classoid = 'pg_proc'::regclass AND i.objoid = p.oid AND i.privtype = 'i'
 WHERE NOT EXISTS (SELECT FROM aclexplode(i.initprivs) a WHERE a.grantee = 0)
   AND has_function_privilege('clew_app', p.oid, 'EXECUTE')
 UNION ALL
SELECT format('table %s', c.oid::regclass), 'is PostgreSQL''s own, not for everyone, and clew_app may read it',
       format('REVOKE ALL ON %s FROM clew_app, PUBLIC', c.oid::regclass)
  FROM pg_class c
  LEFT JOIN pg_init_privs i ON i.classoid = 'pg_class'::regclass AND i.objoid = c.oid AND i.objsubid = 0 AND i.privtype = 'i'
 WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind IN ('r', 'v')
   AND NOT EXISTS (SELECT FROM aclexplode(i.initprivs) a WHERE a.grantee = 0)
   AND has_table_privilege('clew_app', c.oid, 'SELECT');

-- name: tenant_of_another_type
-- A collation that ignores case, or a type that pads or cuts, makes two tenants one.
SELECT format('table %s', c.oid::regclass), 'compares tenant_id other than byte by byte',
       format('ALTER TABLE %s ALTER tenant_id TYPE text COLLATE "C"', c.oid::regclass)
  FROM pg_class c
  JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                      AND a.attname = CASE c.relnamespace::regnamespace::text WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
  LEFT JOIN pg_collation l ON l.oid = a.attcollation
 WHERE c.relnamespace::regnamespace::text ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p')
   AND (a.atttypid <> 'text'::regtype OR l.collisdeterministic IS NOT true);

-- name: jobs_seen_by_tenants
-- A job names a tenant and a thread of its own: where a tenant is set, no job is seen.
SELECT format('table %s', c.oid::regclass), 'shows background work to tenants',
       format('DROP POLICY IF EXISTS jobs_wall ON %s, and any other; then clew migrate', c.oid::regclass)
  FROM pg_class c
 WHERE c.relnamespace::regnamespace::text = 'clew_jobs' AND c.relkind IN ('r', 'p')
   AND NOT (c.relrowsecurity AND c.relforcerowsecurity AND (
     SELECT count(*) = 1 AND bool_and(
              p.polname = 'jobs_wall' AND p.polcmd = '*' AND p.polroles = '{0}' AND p.polwithcheck IS NULL
              AND pg_get_expr(p.polqual, p.polrelid)
                  = '(COALESCE(current_setting(''clew.tenant_id''::text, true), ''''::text) = ''''::text)')
       FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive));
