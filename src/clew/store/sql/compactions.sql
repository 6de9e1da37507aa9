-- The views that compaction leaves: what a model sees instead of a thread's older messages.

-- name: current
-- A thread as it is now: how long its log is, its newest view, how long it was when a compaction was last refused, and
-- what is pinned in it.
SELECT t.created_at, t.message_count, t.token_count,
       c.generation, c.view::text, c.log_tokens, c.tokens_after, r.at_position,
       ARRAY(SELECT m.position FROM clew.messages m
              WHERE m.tenant_id = t.tenant_id AND m.thread_id = t.thread_id AND m.pinned ORDER BY 1 LIMIT %(pins)s)
  FROM clew.threads t
  LEFT JOIN LATERAL (
    SELECT * FROM clew.compactions c
     WHERE c.tenant_id = t.tenant_id AND c.thread_id = t.thread_id
     ORDER BY c.generation DESC LIMIT 1) AS c ON true
  LEFT JOIN LATERAL (
    SELECT max(r.at_position) AS at_position FROM clew.compaction_refusals r
     WHERE r.tenant_id = t.tenant_id AND r.thread_id = t.thread_id) AS r ON true
 WHERE t.tenant_id = %(tenant_id)s AND t.thread_id = %(thread_id)s;

-- name: commit
-- The next generation, unless somebody was faster, or the thread was cleared and began anew in the meantime.
INSERT INTO clew.compactions (tenant_id, thread_id, generation, compaction_id, through, view, tiers,
                              log_tokens, tokens_before, tokens_after)
SELECT t.tenant_id, t.thread_id, %(generation)s, %(compaction_id)s::uuid, %(through)s, %(view)s::json, %(tiers)s::text[],
       %(log_tokens)s, %(tokens_before)s, %(tokens_after)s
  FROM clew.threads t
 WHERE t.tenant_id = %(tenant_id)s AND t.thread_id = %(thread_id)s AND t.created_at = %(thread_created_at)s
   FOR KEY SHARE
    ON CONFLICT (tenant_id, thread_id, generation) DO NOTHING
RETURNING created_at;

-- name: refuse
-- Why the view stayed as it was; nothing when the thread is gone.
INSERT INTO clew.compaction_refusals (tenant_id, thread_id, refusal_id, generation, at_position, code, reason)
SELECT t.tenant_id, t.thread_id, %(refusal_id)s::uuid, %(generation)s, %(at_position)s, %(code)s, %(reason)s
  FROM clew.threads t
 WHERE t.tenant_id = %(tenant_id)s AND t.thread_id = %(thread_id)s AND t.created_at = %(thread_created_at)s
   FOR KEY SHARE;

-- name: committed
-- A thread's compactions, the newest first.
SELECT compaction_id::text, generation, view::text, tiers, tokens_before, tokens_after, created_at
  FROM clew.compactions
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s
 ORDER BY generation DESC
 LIMIT %(limit)s;

-- name: refused
-- What was refused of a thread, the newest first.
SELECT refusal_id::text, generation, at_position, code, reason, created_at
  FROM clew.compaction_refusals
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s
 ORDER BY refusal_id DESC
 LIMIT %(limit)s;

-- name: newest_of_threads
-- The view of each of the tenant's threads that has one, the most recently compacted first.
SELECT c.thread_id, c.view::text, c.created_at
  FROM clew.compactions c
 WHERE c.tenant_id = %(tenant_id)s
   AND NOT EXISTS (SELECT FROM clew.compactions n
                    WHERE n.tenant_id = c.tenant_id AND n.thread_id = c.thread_id AND n.generation > c.generation)
 ORDER BY c.created_at DESC, c.thread_id
 LIMIT %(limit)s;
