-- Candidates for a question. {scope} stands for the caller's filters: conditions of ours with bound values. They are
-- part of every statement that chooses, so that a filter never makes an answer short.

-- name: prelude
-- What must be known before the question is embedded: the space, the tenant's size, and which words of the question are
-- the names of people who speak. The first name from a word on is one step in the index; EXISTS read the whole table
-- when few people speak (59 ms at 200,000 entries).
SELECT s.space, s.model, s.dimensions,
       (SELECT COALESCE(sum(entries), 0)::bigint FROM clew.memory_totals WHERE tenant_id = %(tenant_id)s),
       (SELECT COALESCE(sum(length), 0)::bigint FROM clew.memory_totals WHERE tenant_id = %(tenant_id)s),
       ARRAY(SELECT word FROM unnest(%(words)s::text[]) AS word
              WHERE word = (SELECT m.speaker_key FROM clew.memories m
                             WHERE m.tenant_id = %(tenant_id)s AND m.speaker_key >= word
                             ORDER BY m.speaker_key LIMIT 1))
  FROM (SELECT) AS nothing
  LEFT JOIN clew.memory_spaces s ON s.tenant_id = %(tenant_id)s AND s.active;

-- name: frequencies
-- In how many of the tenant's entries each term is, exactly.
SELECT term, count(*) FROM clew.memory_terms
 WHERE tenant_id = %(tenant_id)s AND term = ANY(%(terms)s)
 GROUP BY term;

-- name: everything
-- All that is in scope, or one more than is wanted: then there is too much to look at each.
SELECT m.seq, m.revision FROM clew.memories m
 WHERE m.tenant_id = %(tenant_id)s {scope}
 LIMIT %(limit)s;

-- name: lexical
-- BM25 over the postings alone: the entries are not touched.
SELECT p.seq
  FROM clew.memory_terms p
  JOIN unnest(%(terms)s::text[], %(weights)s::float8[]) AS w (term, weight) ON w.term = p.term
 WHERE p.tenant_id = %(tenant_id)s AND p.term = ANY(%(terms)s)
 GROUP BY p.seq
 ORDER BY sum(w.weight * p.frequency / (p.frequency + 1.2 * (0.6 + 0.4 * p.length / %(mean_length)s::float8))) DESC, p.seq
 LIMIT %(limit)s;

-- name: lexical_scoped
-- The same with filters, which only the entries can answer: once for all, not for each posting.
WITH scope AS MATERIALIZED (SELECT m.seq FROM clew.memories m WHERE m.tenant_id = %(tenant_id)s {scope})
SELECT p.seq
  FROM clew.memory_terms p
  JOIN unnest(%(terms)s::text[], %(weights)s::float8[]) AS w (term, weight) ON w.term = p.term
  JOIN scope ON scope.seq = p.seq
 WHERE p.tenant_id = %(tenant_id)s AND p.term = ANY(%(terms)s)
 GROUP BY p.seq
 ORDER BY sum(w.weight * p.frequency / (p.frequency + 1.2 * (0.6 + 0.4 * p.length / %(mean_length)s::float8))) DESC, p.seq
 LIMIT %(limit)s;

-- name: dense
-- An exact scan of the tenant's vectors of one space.
SELECT v.seq
  FROM clew.memory_vectors v
 WHERE v.tenant_id = %(tenant_id)s AND v.space = %(space)s
 ORDER BY v.embedding <#> %(vector)s::halfvec, v.seq
 LIMIT %(limit)s;

-- name: dense_scoped
-- The same with filters.
SELECT v.seq
  FROM clew.memory_vectors v
  JOIN clew.memories m ON m.tenant_id = %(tenant_id)s AND m.seq = v.seq
 WHERE v.tenant_id = %(tenant_id)s AND v.space = %(space)s {scope}
 ORDER BY v.embedding <#> %(vector)s::halfvec, v.seq
 LIMIT %(limit)s;

-- name: latest
-- The newest in scope: they fill an answer that words and vectors leave short.
SELECT m.seq FROM clew.memories m
 WHERE m.tenant_id = %(tenant_id)s {scope}
 ORDER BY m.created_at DESC, m.memory_id DESC
 LIMIT %(limit)s;

-- name: around
-- For each candidate what stands before it and after it in its thread, in order, and whether that is in scope too.
SELECT c.seq, c.revision,
       ARRAY(SELECT ARRAY[m.seq, m.revision, (true {scope})::int] FROM clew.memories m
              WHERE m.tenant_id = %(tenant_id)s AND m.agent_id = c.agent_id AND m.thread_id = c.thread_id
                AND (m.place, m.seq) < (c.place, c.seq)
              ORDER BY m.place DESC, m.seq DESC LIMIT %(reach)s),
       ARRAY(SELECT ARRAY[m.seq, m.revision, (true {scope})::int] FROM clew.memories m
              WHERE m.tenant_id = %(tenant_id)s AND m.agent_id = c.agent_id AND m.thread_id = c.thread_id
                AND (m.place, m.seq) > (c.place, c.seq)
              ORDER BY m.place, m.seq LIMIT %(reach)s)
  FROM clew.memories c
 WHERE c.tenant_id = %(tenant_id)s AND c.seq = ANY(%(seqs)s);

-- name: texts
-- What is not in memory yet. A vector as bytes: half the size of text and a tenth of the time to read.
SELECT m.seq, m.revision, m.agent_id, m.thread_id, m.place, m.speaker, m.speaker_key, m.occurred_at,
       left(m.content, %(read_chars)s), halfvec_send(v.embedding)
  FROM clew.memories m
  LEFT JOIN clew.memory_vectors v ON v.tenant_id = %(tenant_id)s AND v.space = %(space)s AND v.seq = m.seq
 WHERE m.tenant_id = %(tenant_id)s AND m.seq = ANY(%(seqs)s);

-- name: dated
-- When the best were said, and what, where it is short enough to be one statement. An entry is as old as what it tells
-- of, else as its text: one that was changed is as new as the change.
SELECT m.seq, COALESCE(m.occurred_at,
                       CASE WHEN m.revision > 1 THEN GREATEST(m.created_at, m.updated_at) ELSE m.created_at END),
       CASE WHEN length(m.content) <= %(most_chars)s THEN m.content END, m.agent_id, m.thread_id, m.speaker_key
  FROM clew.memories m
 WHERE m.tenant_id = %(tenant_id)s AND m.seq = ANY(%(seqs)s);
