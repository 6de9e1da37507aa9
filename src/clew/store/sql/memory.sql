-- Writing and reading memory entries.

-- name: known
-- What of a batch is stored already: by its id, or as an exact duplicate.
SELECT memory_id, seq, fingerprint, length
  FROM clew.memories
 WHERE tenant_id = %(tenant_id)s AND (memory_id = ANY(%(memory_ids)s) OR fingerprint = ANY(%(fingerprints)s));

-- name: add
-- A row that meets one of another writer's, by id or as a duplicate, is left out, and the caller looks again.
INSERT INTO clew.memories (tenant_id, memory_id, agent_id, content, metadata, thread_id, place, speaker, speaker_key,
                           source, occurred_at, length, fingerprint, created_at, updated_at)
SELECT %(tenant_id)s, *
  FROM unnest(%(memory_id)s::text[], %(agent_id)s::text[], %(content)s::text[], %(metadata)s::jsonb[],
              %(thread_id)s::text[], %(place)s::float8[], %(speaker)s::text[], %(speaker_key)s::text[],
              %(source)s::text[], %(occurred_at)s::timestamptz[], %(length)s::int[], %(fingerprint)s::bytea[],
              %(created_at)s::timestamptz[], %(updated_at)s::timestamptz[])
    ON CONFLICT DO NOTHING
RETURNING memory_id, seq;

-- name: change
-- The same id again: the entry is what it is now, and keeps when it was made. A change into another entry's exact
-- duplicate stays an entry of its own, under a fingerprint that nothing else has.
UPDATE clew.memories m
   SET agent_id = c.agent_id, content = c.content, metadata = c.metadata, thread_id = c.thread_id, place = c.place,
       speaker = c.speaker, speaker_key = c.speaker_key, source = c.source, occurred_at = c.occurred_at,
       length = c.length, updated_at = c.updated_at, revision = m.revision + 1,
       fingerprint = CASE WHEN EXISTS (SELECT FROM clew.memories o
                                        WHERE o.tenant_id = %(tenant_id)s AND o.fingerprint = c.fingerprint AND o.seq <> m.seq)
                          THEN sha256(c.fingerprint || convert_to(c.memory_id, 'UTF8')) ELSE c.fingerprint END
  FROM unnest(%(memory_id)s::text[], %(agent_id)s::text[], %(content)s::text[], %(metadata)s::jsonb[],
              %(thread_id)s::text[], %(place)s::float8[], %(speaker)s::text[], %(speaker_key)s::text[],
              %(source)s::text[], %(occurred_at)s::timestamptz[], %(length)s::int[], %(fingerprint)s::bytea[],
              %(created_at)s::timestamptz[], %(updated_at)s::timestamptz[])
       AS c (memory_id, agent_id, content, metadata, thread_id, place, speaker, speaker_key, source, occurred_at,
             length, fingerprint, created_at, updated_at)
 WHERE m.tenant_id = %(tenant_id)s AND m.memory_id = c.memory_id
RETURNING m.memory_id, m.seq;

-- name: add_terms
-- One row a distinct term; 1,000 entries of a conversation are about 12,000.
INSERT INTO clew.memory_terms (tenant_id, term, seq, frequency, length)
SELECT %(tenant_id)s, *
  FROM unnest(%(term)s::text[], %(seq)s::bigint[], %(frequency)s::smallint[], %(length)s::int[])
    ON CONFLICT DO NOTHING;

-- name: drop_terms
-- Before an entry's terms are written anew, and when it goes.
DELETE FROM clew.memory_terms WHERE tenant_id = %(tenant_id)s AND seq = ANY(%(seqs)s);

-- name: add_vectors
-- As text: COPY is not for tables with row security, and halfvec has no array of its own to send.
INSERT INTO clew.memory_vectors (tenant_id, space, seq, embedding)
SELECT %(tenant_id)s, %(space)s, v.seq, v.embedding::halfvec
  FROM unnest(%(seq)s::bigint[], %(embedding)s::text[]) AS v (seq, embedding)
    ON CONFLICT (tenant_id, space, seq) DO UPDATE SET embedding = excluded.embedding;

-- name: drop_vectors
-- In every space: the text they stood for is another one now, or gone.
DELETE FROM clew.memory_vectors v
 USING clew.memory_spaces s
 WHERE s.tenant_id = %(tenant_id)s AND v.tenant_id = %(tenant_id)s AND v.space = s.space AND v.seq = ANY(%(seqs)s);

-- name: add_total
-- One of sixteen rows, chosen by the writer.
INSERT INTO clew.memory_totals (tenant_id, shard, entries, length)
VALUES (%(tenant_id)s, %(shard)s, %(entries)s, %(length)s)
    ON CONFLICT (tenant_id, shard)
    DO UPDATE SET entries = memory_totals.entries + excluded.entries, length = memory_totals.length + excluded.length;

-- name: drop
-- Another tenant's id and one that never was are the same here: no row.
DELETE FROM clew.memories WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s RETURNING seq, length;

-- name: drop_thread
-- What was remembered from one conversation, by whichever agent.
DELETE FROM clew.memories WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s RETURNING seq, length;

-- name: newest
-- The index read backwards; ids break ties, so that two reads agree.
SELECT memory_id, agent_id, content, metadata, created_at, updated_at
  FROM clew.memories
 WHERE tenant_id = %(tenant_id)s
 ORDER BY created_at DESC, memory_id DESC
 LIMIT %(limit)s;

-- name: whole
-- The entries that won, as they are now.
SELECT seq, memory_id, agent_id, content, metadata, created_at, updated_at
  FROM clew.memories
 WHERE tenant_id = %(tenant_id)s AND seq = ANY(%(seqs)s);

-- name: fetch
-- Entries by their ids; the caller puts them in order.
SELECT memory_id, agent_id, content, metadata, created_at, updated_at
  FROM clew.memories
 WHERE tenant_id = %(tenant_id)s AND memory_id = ANY(%(memory_ids)s);

-- name: beside
-- For each entry what stands before and after it in its thread, in order; one row without a neighbour for one that has
-- none, so that it can be told from one that is not there.
SELECT c.memory_id AS of_id, (m.place, m.seq) > (c.place, c.seq), m.memory_id, m.agent_id, m.content, m.metadata,
       m.created_at, m.updated_at
  FROM clew.memories c
  LEFT JOIN LATERAL (
    (SELECT b.* FROM clew.memories b
      WHERE b.tenant_id = %(tenant_id)s AND b.agent_id = c.agent_id AND b.thread_id = c.thread_id
        AND (b.place, b.seq) < (c.place, c.seq)
      ORDER BY b.place DESC, b.seq DESC LIMIT %(reach)s)
    UNION ALL
    (SELECT a.* FROM clew.memories a
      WHERE a.tenant_id = %(tenant_id)s AND a.agent_id = c.agent_id AND a.thread_id = c.thread_id
        AND (a.place, a.seq) > (c.place, c.seq)
      ORDER BY a.place, a.seq LIMIT %(reach)s)) m ON true
 WHERE c.tenant_id = %(tenant_id)s AND c.memory_id = ANY(%(memory_ids)s)
 ORDER BY of_id, m.place, m.seq;

-- name: changes
-- The newest changes of a tenant. What an entry became is what it was before its next change, or what it is now.
SELECT c.change, c.memory_id, c.act, c.before,
       CASE WHEN c.act = 'forgotten' THEN NULL
            WHEN n.change IS NOT NULL THEN n.before
            WHEN m.seq IS NOT NULL THEN jsonb_build_object('agent_id', m.agent_id, 'content', m.content, 'metadata', m.metadata)
       END, c.at
  FROM (SELECT * FROM clew.memory_changes
         WHERE tenant_id = %(tenant_id)s ORDER BY change DESC LIMIT %(limit)s) c
  LEFT JOIN LATERAL (SELECT l.change, l.before FROM clew.memory_changes l
                      WHERE l.tenant_id = %(tenant_id)s AND l.memory_id = c.memory_id AND l.change > c.change
                      ORDER BY l.change LIMIT 1) n ON true
  LEFT JOIN clew.memories m ON m.tenant_id = %(tenant_id)s AND m.memory_id = c.memory_id
 ORDER BY c.change DESC;

-- name: changes_of
-- The same of one entry. A statement of its own: with one for both, PostgreSQL would plan for neither.
SELECT c.change, c.memory_id, c.act, c.before,
       CASE WHEN c.act = 'forgotten' THEN NULL
            WHEN n.change IS NOT NULL THEN n.before
            WHEN m.seq IS NOT NULL THEN jsonb_build_object('agent_id', m.agent_id, 'content', m.content, 'metadata', m.metadata)
       END, c.at
  FROM (SELECT * FROM clew.memory_changes
         WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s ORDER BY change DESC LIMIT %(limit)s) c
  LEFT JOIN LATERAL (SELECT l.change, l.before FROM clew.memory_changes l
                      WHERE l.tenant_id = %(tenant_id)s AND l.memory_id = c.memory_id AND l.change > c.change
                      ORDER BY l.change LIMIT 1) n ON true
  LEFT JOIN clew.memories m ON m.tenant_id = %(tenant_id)s AND m.memory_id = c.memory_id
 ORDER BY c.change DESC;
