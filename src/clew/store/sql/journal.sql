-- What happened in a tenant, in the order it happened.

-- name: add
-- The same entry id twice is one entry: a caller that does not know whether its write arrived sends it again.
INSERT INTO clew.journal (tenant_id, entry_id, kind, detail)
VALUES (%(tenant_id)s, %(entry_id)s, %(kind)s, %(detail)s)
    ON CONFLICT (tenant_id, entry_id) DO NOTHING;

-- name: newest
-- Ids sort by time, so the primary key is the order.
SELECT entry_id::text, kind, detail, created_at
  FROM clew.journal
 WHERE tenant_id = %(tenant_id)s
 ORDER BY entry_id DESC
 LIMIT %(limit)s;
