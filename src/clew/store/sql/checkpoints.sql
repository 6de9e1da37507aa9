-- What LangGraph's own saver leaves out. A thread id here is `tenant/thread`; one tenant's ids are the range from
-- `tenant/` up to `tenant0`, the character after the slash.

-- name: enter
-- LangGraph's SQL names its tables without a schema. Temporary tables come last: nobody can slip one in front.
SET LOCAL search_path = clew_lg_00, pg_temp;

-- name: revision
-- Which of its own migrations LangGraph finds done.
SELECT max(v) AS revision FROM checkpoint_migrations;

-- name: is_there
-- Whether anything was ever saved in a thread.
SELECT EXISTS (SELECT FROM checkpoints WHERE thread_id = %(thread_id)s)
    OR EXISTS (SELECT FROM checkpoint_writes WHERE thread_id = %(thread_id)s) AS found;

-- name: copy_checkpoints
-- The whole chain, since a delta channel is rebuilt from its ancestors.
INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata)
SELECT %(target)s, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata
  FROM checkpoints WHERE thread_id = %(source)s;

-- name: copy_blobs
-- What those checkpoints point to.
INSERT INTO checkpoint_blobs (thread_id, checkpoint_ns, channel, version, type, blob)
SELECT %(target)s, checkpoint_ns, channel, version, type, blob
  FROM checkpoint_blobs WHERE thread_id = %(source)s;

-- name: copy_writes
-- What their steps wrote.
INSERT INTO checkpoint_writes (thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path)
SELECT %(target)s, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, blob, task_path
  FROM checkpoint_writes WHERE thread_id = %(source)s;

-- name: built_on_runs
-- Threads with a delta channel in which a later run was built on one of these: its messages live in their writes.
SELECT DISTINCT child.thread_id
  FROM checkpoints gone
  JOIN checkpoints child ON child.thread_id = gone.thread_id AND child.checkpoint_ns = gone.checkpoint_ns
                        AND child.parent_checkpoint_id = gone.checkpoint_id
 WHERE gone.thread_id >= %(from)s AND gone.thread_id < %(to)s AND gone.metadata ->> 'run_id' = ANY (%(run_ids)s)
   AND (child.metadata ->> 'run_id' = ANY (%(run_ids)s)) IS NOT TRUE
   AND (child.metadata ? 'counters_since_delta_snapshot' OR gone.metadata ? 'counters_since_delta_snapshot');

-- name: adopt_children
-- A checkpoint that stays gets its nearest ancestor that stays as its parent.
WITH RECURSIVE climb AS (
  SELECT child.thread_id, child.checkpoint_ns, child.checkpoint_id, gone.parent_checkpoint_id AS parent
    FROM checkpoints gone
    JOIN checkpoints child ON child.thread_id = gone.thread_id AND child.checkpoint_ns = gone.checkpoint_ns
                          AND child.parent_checkpoint_id = gone.checkpoint_id
   WHERE gone.thread_id >= %(from)s AND gone.thread_id < %(to)s AND gone.metadata ->> 'run_id' = ANY (%(run_ids)s)
     AND (child.metadata ->> 'run_id' = ANY (%(run_ids)s)) IS NOT TRUE
   UNION ALL
  SELECT climb.thread_id, climb.checkpoint_ns, climb.checkpoint_id, gone.parent_checkpoint_id
    FROM climb
    JOIN checkpoints gone ON gone.thread_id = climb.thread_id AND gone.checkpoint_ns = climb.checkpoint_ns
                         AND gone.checkpoint_id = climb.parent
   WHERE gone.metadata ->> 'run_id' = ANY (%(run_ids)s)
)
UPDATE checkpoints c
   SET parent_checkpoint_id = climb.parent
  FROM climb
 WHERE c.thread_id = climb.thread_id AND c.checkpoint_ns = climb.checkpoint_ns AND c.checkpoint_id = climb.checkpoint_id
   AND NOT EXISTS (
     SELECT FROM checkpoints p
      WHERE p.thread_id = climb.thread_id AND p.checkpoint_ns = climb.checkpoint_ns AND p.checkpoint_id = climb.parent
        AND p.metadata ->> 'run_id' = ANY (%(run_ids)s));

-- name: delete_run_writes
-- Before their checkpoints go, which say whose they are.
DELETE FROM checkpoint_writes w
 USING checkpoints c
 WHERE c.thread_id >= %(from)s AND c.thread_id < %(to)s AND c.metadata ->> 'run_id' = ANY (%(run_ids)s)
   AND w.thread_id = c.thread_id AND w.checkpoint_ns = c.checkpoint_ns AND w.checkpoint_id = c.checkpoint_id;

-- name: delete_run_checkpoints
-- Answers with the namespaces that lost some.
WITH gone AS (
  DELETE FROM checkpoints
   WHERE thread_id >= %(from)s AND thread_id < %(to)s AND metadata ->> 'run_id' = ANY (%(run_ids)s)
  RETURNING thread_id, checkpoint_ns, checkpoint -> 'channel_versions' AS versions
)
SELECT DISTINCT gone.thread_id, gone.checkpoint_ns, v.key AS channel, v.value AS version
  FROM gone CROSS JOIN LATERAL jsonb_each_text(gone.versions) AS v;

-- name: delete_unreferenced_blobs
-- A blob goes when a deleted checkpoint pointed to it and none that is left does. A statement of its own: in one with
-- the deletion above, the deleted checkpoints would still be seen.
DELETE FROM checkpoint_blobs b
 USING unnest(%(thread_ids)s::text[], %(namespaces)s::text[], %(channels)s::text[], %(versions)s::text[])
       AS freed (thread_id, checkpoint_ns, channel, version)
 WHERE b.thread_id = freed.thread_id AND b.checkpoint_ns = freed.checkpoint_ns
   AND b.channel = freed.channel AND b.version = freed.version
   AND NOT EXISTS (
     SELECT FROM checkpoints c
      WHERE c.thread_id = freed.thread_id AND c.checkpoint_ns = freed.checkpoint_ns
        AND c.checkpoint -> 'channel_versions' ->> freed.channel = freed.version);

-- name: forget_thread
-- All of a thread, in one statement that says how many checkpoints there were.
WITH writes AS (DELETE FROM clew_lg_00.checkpoint_writes WHERE thread_id = %(thread_id)s),
     blobs AS (DELETE FROM clew_lg_00.checkpoint_blobs WHERE thread_id = %(thread_id)s),
     gone AS (DELETE FROM clew_lg_00.checkpoints WHERE thread_id = %(thread_id)s RETURNING 1)
SELECT count(*) FROM gone;
