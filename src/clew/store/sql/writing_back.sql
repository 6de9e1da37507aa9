-- How far threads were read for what they tell, and what the gate kept out.

-- name: unread
-- Whether a thread has messages that were not read yet, whose it is, and which of that name it is.
SELECT message_count, created_at, user_id, read_through
  FROM clew.threads
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s;

-- name: move
-- Who comes second, or comes to a thread that was cleared meanwhile, gets no row, and stores nothing.
UPDATE clew.threads SET read_through = %(through)s
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s AND created_at = %(created_at)s
   AND read_through = %(before)s
RETURNING true;

-- name: count_refusals
-- The reason and how often; what it was is not written anywhere.
INSERT INTO clew.gate_refusals AS g (tenant_id, reason, refused)
SELECT %(tenant_id)s, r.reason, count(*) FROM unnest(%(reasons)s::text[]) AS r (reason) GROUP BY r.reason ORDER BY r.reason
    ON CONFLICT (tenant_id, reason) DO UPDATE SET refused = g.refused + excluded.refused, last_at = statement_timestamp();

-- name: refusals
-- The most frequent first.
SELECT reason, refused, last_at FROM clew.gate_refusals WHERE tenant_id = %(tenant_id)s ORDER BY refused DESC, reason;
