-- How far threads were read for what they tell, and what the gate kept out.

-- name: unread
-- Whether a thread has messages that were not read yet, whose it is, and which of that name it is.
SELECT t.message_count, t.created_at, t.user_id, COALESCE(r.through, 0)
  FROM clew.threads t
  LEFT JOIN clew.thread_reads r ON r.tenant_id = %(tenant_id)s AND r.thread_id = t.thread_id
 WHERE t.tenant_id = %(tenant_id)s AND t.thread_id = %(thread_id)s;

-- name: move
-- Who comes second, or comes to a thread that was cleared meanwhile, gets no row, and stores nothing.
INSERT INTO clew.thread_reads AS r (tenant_id, thread_id, through)
SELECT t.tenant_id, t.thread_id, %(through)s
  FROM clew.threads t
 WHERE t.tenant_id = %(tenant_id)s AND t.thread_id = %(thread_id)s AND t.created_at = %(created_at)s
   FOR KEY SHARE
    ON CONFLICT (tenant_id, thread_id) DO UPDATE SET through = excluded.through WHERE r.through = %(before)s
RETURNING true;

-- name: count_refusals
-- The reason and how often; what it was is not written anywhere.
INSERT INTO clew.gate_refusals AS g (tenant_id, reason, refused)
SELECT %(tenant_id)s, r.reason, count(*) FROM unnest(%(reasons)s::text[]) AS r (reason) GROUP BY r.reason ORDER BY r.reason
    ON CONFLICT (tenant_id, reason) DO UPDATE SET refused = g.refused + excluded.refused, last_at = statement_timestamp();

-- name: refusals
-- The most frequent first.
SELECT reason, refused, last_at FROM clew.gate_refusals WHERE tenant_id = %(tenant_id)s ORDER BY refused DESC, reason;
