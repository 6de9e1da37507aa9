-- name: add
-- The lock makes a collector that is at work on the artifact go first: no row when it is gone, instead of a broken key.
INSERT INTO clew.tool_results
       (tenant_id, result_id, tool_call_id, thread_id, tool, artifact_id, form, full_tokens, shown_tokens)
SELECT a.tenant_id, %(result_id)s::uuid, %(tool_call_id)s, %(thread_id)s, %(tool)s, a.artifact_id, %(form)s,
       %(full_tokens)s, %(shown_tokens)s
  FROM (SELECT tenant_id, artifact_id
          FROM clew.artifacts
         WHERE tenant_id = %(tenant_id)s AND artifact_id = %(artifact_id)s
           FOR KEY SHARE) a
RETURNING result_id::text;

-- name: find
-- By the call's id or by the artifact's, which comes first: ids of calls come from outside, and none may hide an artifact.
-- Ids sort by the time they were made, so the last is the newest.
SELECT artifact_id, form
  FROM clew.tool_results
 WHERE tenant_id = %(tenant_id)s AND (tool_call_id = %(wanted)s OR artifact_id = %(wanted)s)
 ORDER BY (artifact_id = %(wanted)s) DESC NULLS LAST, result_id DESC
 LIMIT 1;

-- name: savings
-- Per tool, what saved most first; of one thread when one is given.
SELECT tool, count(*), sum(full_tokens)::bigint, sum(shown_tokens)::bigint
  FROM clew.tool_results
 WHERE tenant_id = %(tenant_id)s AND (%(thread_id)s::text IS NULL OR thread_id = %(thread_id)s::text)
 GROUP BY tool
 ORDER BY sum(full_tokens - shown_tokens) DESC, tool
 LIMIT %(limit)s;
