-- What a source, a user or a tenant left, found from what names it. Which tables there are is asked of the catalog, so
-- that a table of a later release can't be forgotten.

-- name: unhurried
-- All of a large tenant goes in one statement a table; its rows' terms alone are millions.
SET LOCAL statement_timeout = '30min';

-- name: tenant_tables
-- Every table that has tenants, and whether the application may delete from it.
-- Where it may not, rows go with those that they refer to.
SELECT n.nspname, c.relname, has_table_privilege(c.oid, 'DELETE')
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
                     AND a.attname = CASE n.nspname WHEN 'clew' THEN 'tenant_id' ELSE 'thread_id' END
 WHERE n.nspname ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p')
 ORDER BY 1, 2;

-- name: references_between
-- Which table refers to which: whoever refers goes first.
SELECT DISTINCT c.conrelid::regclass::text, c.confrelid::regclass::text
  FROM pg_constraint c
  JOIN pg_namespace n ON n.oid = c.connamespace
 WHERE c.contype = 'f' AND c.conrelid <> c.confrelid AND n.nspname ~ '^clew(_lg_[0-9]{2})?$';

-- name: naming_columns
-- The columns that hold ids of some kinds, with their types. Where knowledge's log of changes, or a belief that others'
-- words support too, keeps an id of ours, it is the words beside it that must be gone.
SELECT n.nspname, c.relname, a.attname, format_type(a.atttypid, NULL),
       ARRAY(SELECT w.attname::text FROM pg_attribute w
              WHERE w.attrelid = c.oid AND NOT w.attisdropped
                AND (c.relname = 'fact_changes' AND w.attname IN ('before', 'after')
                     OR c.relname = 'fact_beliefs' AND a.attname = 'episode_id' AND w.attname = 'because')
              ORDER BY w.attnum)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE n.nspname ~ '^clew(_lg_[0-9]{2})?$' AND c.relkind IN ('r', 'p') AND a.attname = ANY (%(columns)s)
 ORDER BY 1, 2, 3;

-- name: count_rows
-- How much of a tenant is in one table.
SELECT count(*) FROM {table} WHERE {tenant};

-- name: count_naming
-- How much in one table names something.
SELECT count(*) FROM {table} WHERE {tenant} AND ({naming});

-- name: delete_rows
-- All of a tenant that is in one table.
DELETE FROM {table} WHERE {tenant};

-- name: threads_of_user
-- The log says whose a thread is; of a thread that only a graph has written, its configuration does.
SELECT thread_id FROM clew.threads WHERE tenant_id = %(tenant_id)s AND user_id = %(user_id)s
 UNION
SELECT substr(thread_id, length(%(from)s) + 1)
  FROM clew_lg_00.checkpoints
 WHERE thread_id >= %(from)s AND thread_id < %(to)s AND metadata ->> 'user_id' = %(user_id)s;

-- name: one_at_a_time
-- Two erasures of a tenant would take each other's threads and wait for each other's locks.
SELECT pg_advisory_xact_lock(hashtextextended('clew.erasure ' || %(tenant_id)s, 0));

-- name: hold_threads
-- Those that have a log. Nobody adds to them from here on; one that begins now is not of what is erased.
SELECT thread_id FROM clew.threads
 WHERE tenant_id = %(tenant_id)s AND thread_id = ANY (%(thread_ids)s) ORDER BY thread_id FOR UPDATE;

-- name: messages_of
-- What was said in them.
SELECT message_id::text FROM clew.messages WHERE tenant_id = %(tenant_id)s AND thread_id = ANY (%(thread_ids)s);

-- name: memories_of
-- What was remembered: by their own ids, from threads, of a user.
SELECT memory_id, seq
  FROM clew.memories
 WHERE tenant_id = %(tenant_id)s
   AND (memory_id = ANY (%(memory_ids)s) OR metadata ->> 'user_id' = %(user_id)s::text
        OR thread_id = ANY (%(thread_ids)s) OR metadata ->> 'thread_id' = ANY (%(thread_ids)s))
 ORDER BY seq;

-- name: drop_memories
-- The log of changes loses their earlier versions by itself.
DELETE FROM clew.memories WHERE tenant_id = %(tenant_id)s AND memory_id = ANY (%(memory_ids)s) RETURNING seq, length;

-- name: drop_memory_changes
-- That they were there, too: a memory's id may be any text that somebody chose.
DELETE FROM clew.memory_changes WHERE tenant_id = %(tenant_id)s AND memory_id = ANY (%(memory_ids)s);

-- name: episodes_of
-- What was told: by their own ids, in threads or by one of their messages, by a user.
SELECT e.episode_id::text
  FROM clew.episodes e
 WHERE e.tenant_id = %(tenant_id)s
   AND (e.episode_id = ANY (%(episode_ids)s::uuid[]) OR e.user_id = %(user_id)s::text
        OR e.thread_id = ANY (%(thread_ids)s)
        OR e.episode_id IN (SELECT s.episode_id FROM clew.fact_sources s
                             WHERE s.tenant_id = %(tenant_id)s AND s.message_id = ANY (%(message_ids)s)))
 ORDER BY e.seq;

-- name: facts_of
-- What they told, whoever else told it too.
SELECT fact_id::text, seq
  FROM clew.facts
 WHERE tenant_id = %(tenant_id)s
   AND seq IN (SELECT s.seq FROM clew.fact_sources s
                WHERE s.tenant_id = %(tenant_id)s AND s.episode_id = ANY (%(episode_ids)s::uuid[]))
 ORDER BY seq;

-- name: instructions_of
-- What was asked for once and for all: in threads, for threads, for a user.
SELECT instruction_id::text
  FROM clew.standing_instructions
 WHERE tenant_id = %(tenant_id)s
   AND (thread_id = ANY (%(thread_ids)s) OR scope = 'thread' AND holder = ANY (%(thread_ids)s)
        OR scope = 'user' AND holder = %(user_id)s::text)
 ORDER BY seq;

-- name: drop_instructions
-- Whether they still hold or not.
DELETE FROM clew.standing_instructions
 WHERE tenant_id = %(tenant_id)s AND instruction_id = ANY (%(instruction_ids)s::uuid[]);

-- name: artifacts_near
-- What tools gave back in these threads, what their messages name, and what is asked for by its own id.
SELECT artifact_id FROM clew.tool_results
 WHERE tenant_id = %(tenant_id)s AND thread_id = ANY (%(thread_ids)s) AND artifact_id IS NOT NULL
 UNION
SELECT artifact_id FROM clew.artifact_uses WHERE tenant_id = %(tenant_id)s AND thread_id = ANY (%(thread_ids)s)
 UNION
SELECT artifact_id FROM clew.artifacts WHERE tenant_id = %(tenant_id)s AND artifact_id = ANY (%(artifact_ids)s);

-- name: hold_artifacts
-- Nobody names one of them from here on. Who else does is asked in a statement of its own: this one may have waited for
-- somebody who did.
SELECT artifact_id FROM clew.artifacts
 WHERE tenant_id = %(tenant_id)s AND artifact_id = ANY (%(artifact_ids)s) ORDER BY artifact_id FOR UPDATE;

-- name: artifacts_only_of
-- What was a tool's result and no other thread keeps. What a program stored itself stays its own, whoever names it;
-- a result whose thread nobody told belongs to the threads that name it.
SELECT a.artifact_id
  FROM clew.artifacts a
 WHERE a.tenant_id = %(tenant_id)s AND a.artifact_id = ANY (%(artifact_ids)s)
   AND EXISTS (SELECT FROM clew.tool_results r WHERE r.tenant_id = a.tenant_id AND r.artifact_id = a.artifact_id)
   AND NOT EXISTS (SELECT FROM clew.tool_results r
                    WHERE r.tenant_id = a.tenant_id AND r.artifact_id = a.artifact_id
                      AND r.thread_id <> ALL (%(thread_ids)s))
   AND NOT EXISTS (SELECT FROM clew.artifact_uses u
                    WHERE u.tenant_id = a.tenant_id AND u.artifact_id = a.artifact_id
                      AND u.thread_id <> ALL (%(thread_ids)s));

-- name: threads_naming
-- The conversations that go on naming an artifact that goes: what it was is still in their words.
SELECT DISTINCT thread_id FROM clew.artifact_uses
 WHERE tenant_id = %(tenant_id)s AND artifact_id = ANY (%(artifact_ids)s) AND thread_id <> ALL (%(thread_ids)s);

-- name: drop_threads
-- Their messages, summaries, refusals and keys go with them, and so do their tool results.
DELETE FROM clew.threads WHERE tenant_id = %(tenant_id)s AND thread_id = ANY (%(thread_ids)s);

-- name: drop_tool_results
-- Of threads that have no log as well, and those that name what goes.
DELETE FROM clew.tool_results
 WHERE tenant_id = %(tenant_id)s AND (thread_id = ANY (%(thread_ids)s) OR artifact_id = ANY (%(artifact_ids)s));

-- name: drop_artifact_uses
-- The same of what messages name.
DELETE FROM clew.artifact_uses
 WHERE tenant_id = %(tenant_id)s AND (thread_id = ANY (%(thread_ids)s) OR artifact_id = ANY (%(artifact_ids)s));

-- name: drop_checkpoints
-- LangGraph's own tables.
WITH writes AS (DELETE FROM clew_lg_00.checkpoint_writes WHERE thread_id = ANY (%(stored_ids)s)),
     blobs AS (DELETE FROM clew_lg_00.checkpoint_blobs WHERE thread_id = ANY (%(stored_ids)s))
DELETE FROM clew_lg_00.checkpoints WHERE thread_id = ANY (%(stored_ids)s);

-- name: condemn_all
-- Nobody finishes, finds or names them any more: their objects may go.
UPDATE clew.blobs SET sha256 = uuid_send(blob_id) || uuid_send(blob_id), size = 0, chunks = ''
 WHERE tenant_id = %(tenant_id)s
RETURNING blob_id::text;

-- name: condemned
-- Also those that an erasure left which ended between its transaction and its objects.
SELECT blob_id::text FROM clew.blobs WHERE tenant_id = %(tenant_id)s AND chunks = '' ORDER BY blob_id;

-- name: count_jobs
-- Background work that names a tenant, or some of its threads or a user.
SELECT count(*)
  FROM clew_jobs.procrastinate_jobs
 WHERE args ->> 'tenant_id' = %(tenant_id)s
   AND (%(whole)s OR args ->> 'thread_id' = ANY (%(thread_ids)s) OR args ->> 'user_id' = %(user_id)s::text);

-- name: drop_jobs
-- Those that nobody is at work on; in the end all of them, and a worker that reports one finds nothing and starts anew.
DELETE FROM clew_jobs.procrastinate_jobs
 WHERE args ->> 'tenant_id' = %(tenant_id)s
   AND (%(whole)s OR args ->> 'thread_id' = ANY (%(thread_ids)s) OR args ->> 'user_id' = %(user_id)s::text)
   AND (%(running)s OR status <> 'doing');

-- name: indexes_of_tenant
-- An index of a tenant's own has the tenant's name in its condition.
SELECT c.relname
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
 WHERE i.indrelid = 'clew.memory_vectors'::regclass AND i.indpred IS NOT NULL
   AND strpos(pg_get_expr(i.indpred, i.indrelid), 'tenant_id = ' || quote_literal(%(tenant_id)s::text)) > 0;

-- name: lock_spaces
-- First of all, as whoever stores a memory or a fact does: then the threads, then knowledge. In another order two of them
-- would wait for each other.
SELECT count(*) FROM (SELECT FROM clew.memory_spaces WHERE tenant_id = %(tenant_id)s ORDER BY space FOR UPDATE) AS held;

-- name: lock_threads
-- Nobody is in the middle of learning from one of them.
SELECT count(*) FROM (SELECT FROM clew.threads WHERE tenant_id = %(tenant_id)s ORDER BY thread_id FOR UPDATE) AS held;
