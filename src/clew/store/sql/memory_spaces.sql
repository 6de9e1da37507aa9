-- Embedding spaces: which one answers for a tenant, and the change to another.

-- name: active
-- The space that answers.
SELECT space, model, dimensions FROM clew.memory_spaces WHERE tenant_id = %(tenant_id)s AND active;

-- name: held
-- The same for a writer: the space can't change until the writer has committed.
SELECT space, model, dimensions FROM clew.memory_spaces WHERE tenant_id = %(tenant_id)s AND active FOR SHARE;

-- name: add_active
-- A tenant's first entry chooses its space; of two at once, one.
INSERT INTO clew.memory_spaces (tenant_id, space, model, dimensions, active)
VALUES (%(tenant_id)s, %(space)s, %(model)s, %(dimensions)s, true)
    ON CONFLICT DO NOTHING;

-- name: add_waiting
-- A space that is being filled answers nothing yet.
INSERT INTO clew.memory_spaces (tenant_id, space, model, dimensions, active)
VALUES (%(tenant_id)s, %(space)s, %(model)s, %(dimensions)s, false)
    ON CONFLICT (tenant_id, space) DO NOTHING;

-- name: lacking
-- Entries without a vector in a space, the oldest first.
SELECT m.seq, m.revision, left(m.content, %(read_chars)s)
  FROM clew.memories m
 WHERE m.tenant_id = %(tenant_id)s
   AND NOT EXISTS (SELECT FROM clew.memory_vectors v
                    WHERE v.tenant_id = %(tenant_id)s AND v.space = %(space)s AND v.seq = m.seq)
 ORDER BY m.seq
 LIMIT %(limit)s;

-- name: count_lacking
-- What is left to do.
SELECT count(*)
  FROM clew.memories m
 WHERE m.tenant_id = %(tenant_id)s
   AND NOT EXISTS (SELECT FROM clew.memory_vectors v
                    WHERE v.tenant_id = %(tenant_id)s AND v.space = %(space)s AND v.seq = m.seq);

-- name: add_lacking
-- Only for entries that are still what was embedded: one that changed meanwhile is embedded again.
INSERT INTO clew.memory_vectors (tenant_id, space, seq, embedding)
SELECT %(tenant_id)s, %(space)s, v.seq, v.embedding::halfvec
  FROM unnest(%(seq)s::bigint[], %(revision)s::int[], %(embedding)s::text[]) AS v (seq, revision, embedding)
  JOIN clew.memories m ON m.tenant_id = %(tenant_id)s AND m.seq = v.seq AND m.revision = v.revision
    ON CONFLICT DO NOTHING;

-- name: lock
-- Writers hold the active space shared: this waits for them, and holds up new ones for the moment of the change.
SELECT space FROM clew.memory_spaces WHERE tenant_id = %(tenant_id)s FOR UPDATE;

-- name: retire
-- A statement of its own: the index allows one active space, and checks row by row.
UPDATE clew.memory_spaces SET active = false WHERE tenant_id = %(tenant_id)s AND active;

-- name: activate
-- From here on this space answers.
UPDATE clew.memory_spaces SET active = true WHERE tenant_id = %(tenant_id)s AND space = %(space)s;

-- name: clear_others
-- What the other spaces held is of no use any more.
DELETE FROM clew.memory_vectors v
 USING clew.memory_spaces s
 WHERE s.tenant_id = %(tenant_id)s AND NOT s.active AND v.tenant_id = %(tenant_id)s AND v.space = s.space;
