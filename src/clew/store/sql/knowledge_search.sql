-- Finding facts: candidates by words and by meaning, and the facts themselves with their sources.

-- name: prelude
-- What must be known before the question is embedded.
SELECT s.space, s.model, s.dimensions,
       (SELECT COALESCE(sum(facts), 0)::bigint FROM clew.fact_totals WHERE tenant_id = %(tenant_id)s),
       (SELECT COALESCE(sum(length), 0)::bigint FROM clew.fact_totals WHERE tenant_id = %(tenant_id)s)
  FROM (SELECT) AS nothing
  LEFT JOIN clew.memory_spaces s ON s.tenant_id = %(tenant_id)s AND s.active;

-- name: frequencies
-- In how many of the tenant's facts each term is, counted as far as it matters: that a word is in 100,000 facts and not
-- in 20,000 hardly changes its weight, and took 25 ms a word to find out.
SELECT w.term, c.facts
  FROM unnest(%(terms)s::text[]) AS w (term)
  CROSS JOIN LATERAL (SELECT count(*) AS facts
                        FROM (SELECT FROM clew.fact_terms p
                               WHERE p.tenant_id = %(tenant_id)s AND p.term = w.term
                               LIMIT %(most)s) AS found) AS c
 WHERE c.facts > 0;

-- name: everything
-- All facts of a small tenant.
SELECT seq FROM clew.facts WHERE tenant_id = %(tenant_id)s LIMIT %(limit)s;

-- name: lexical
-- BM25 over the postings alone. What is not believed any more is rare: it is left out afterwards.
SELECT p.seq
  FROM clew.fact_terms p
  JOIN unnest(%(terms)s::text[], %(weights)s::float8[]) AS w (term, weight) ON w.term = p.term
 WHERE p.tenant_id = %(tenant_id)s AND p.term = ANY(%(terms)s)
 GROUP BY p.seq
 ORDER BY sum(w.weight * p.frequency / (p.frequency + 1.2 * (0.6 + 0.4 * p.length / %(mean_length)s::float8))) DESC, p.seq
 LIMIT %(limit)s;

-- name: lexical_then
-- The same among what was believed then, or true then.
SELECT p.seq
  FROM clew.fact_terms p
  JOIN unnest(%(terms)s::text[], %(weights)s::float8[]) AS w (term, weight) ON w.term = p.term
 WHERE p.tenant_id = %(tenant_id)s AND p.term = ANY(%(terms)s)
   AND p.seq IN (SELECT b.seq FROM clew.fact_beliefs b
                  WHERE b.tenant_id = %(tenant_id)s
                    AND b.created_at <= COALESCE(%(known_at)s::timestamptz, 'infinity')
                    AND COALESCE(b.expired_at, 'infinity') > COALESCE(%(known_at)s::timestamptz, clock_timestamp())
                    AND (%(as_of)s::timestamptz IS NULL
                         OR (COALESCE(b.valid_at, '-infinity') <= %(as_of)s AND COALESCE(b.invalid_at, 'infinity') > %(as_of)s)))
 GROUP BY p.seq
 ORDER BY sum(w.weight * p.frequency / (p.frequency + 1.2 * (0.6 + 0.4 * p.length / %(mean_length)s::float8))) DESC, p.seq
 LIMIT %(limit)s;

-- name: dense
-- An exact scan of the tenant's vectors. What is not believed any more is rare: it is left out afterwards.
SELECT v.seq
  FROM clew.fact_vectors v
 WHERE v.tenant_id = %(tenant_id)s AND v.space = %(space)s
 ORDER BY v.embedding <#> %(vector)s::halfvec, v.seq
 LIMIT %(limit)s;

-- name: dense_then
-- The same among what was believed then, or true then.
SELECT v.seq
  FROM clew.fact_vectors v
 WHERE v.tenant_id = %(tenant_id)s AND v.space = %(space)s
   AND v.seq IN (SELECT b.seq FROM clew.fact_beliefs b
                  WHERE b.tenant_id = %(tenant_id)s
                    AND b.created_at <= COALESCE(%(known_at)s::timestamptz, 'infinity')
                    AND COALESCE(b.expired_at, 'infinity') > COALESCE(%(known_at)s::timestamptz, clock_timestamp())
                    AND (%(as_of)s::timestamptz IS NULL
                         OR (COALESCE(b.valid_at, '-infinity') <= %(as_of)s AND COALESCE(b.invalid_at, 'infinity') > %(as_of)s)))
 ORDER BY v.embedding <#> %(vector)s::halfvec, v.seq
 LIMIT %(limit)s;

-- name: texts
-- In the form in which `clew.memory.reading` reads entries: a fact stands alone, and nobody speaks.
SELECT f.seq, f.revision, ''::text, NULL::text, 0::float8, NULL::text, NULL::text, b.valid_at,
       f.text || CASE WHEN f.predicate IS NULL THEN '' ELSE ' ' || f.subject || ' ' || f.predicate END,
       halfvec_send(v.embedding)
  FROM clew.facts f
  LEFT JOIN (SELECT seq, max(valid_at) AS valid_at FROM clew.fact_beliefs
              WHERE tenant_id = %(tenant_id)s AND seq = ANY(%(seqs)s) GROUP BY seq) AS b ON b.seq = f.seq
  LEFT JOIN clew.fact_vectors v
    ON v.tenant_id = %(tenant_id)s AND v.space = %(space)s AND v.seq = f.seq AND v.seq = ANY(%(seqs)s)
 WHERE f.tenant_id = %(tenant_id)s AND f.seq = ANY(%(seqs)s);

-- name: beliefs
-- What is, or at `known_at` was, believed of some facts. When a fact was first known is its own. The rows are named on
-- both sides: on a table without statistics the planner else reads all of the tenant's (140 ms at 5,000 facts, now 14).
SELECT f.seq, f.fact_id::text, f.text, f.subject, f.predicate, f.object, f.confidence, b.valid_at, b.invalid_at,
       f.created_at, CASE WHEN %(known_at)s::timestamptz IS NULL THEN b.expired_at END, f.negated, b.because,
       b.episode_id::text, f.revision, b.belief
  FROM clew.facts f
  JOIN clew.fact_beliefs b ON b.tenant_id = %(tenant_id)s AND b.seq = f.seq AND b.seq = ANY(%(seqs)s)
 WHERE f.tenant_id = %(tenant_id)s AND f.seq = ANY(%(seqs)s)
   AND b.created_at <= COALESCE(%(known_at)s::timestamptz, 'infinity')
   AND COALESCE(b.expired_at, 'infinity') > COALESCE(%(known_at)s::timestamptz, clock_timestamp())
   AND (%(as_of)s::timestamptz IS NULL
        OR (COALESCE(b.valid_at, '-infinity') <= %(as_of)s AND COALESCE(b.invalid_at, 'infinity') > %(as_of)s))
 ORDER BY b.belief;

-- name: last_beliefs
-- The newest belief about each fact, held still or not: what its history shows.
SELECT DISTINCT ON (f.seq, b.expired_at IS NULL, CASE WHEN b.expired_at IS NULL THEN b.belief END)
       f.seq, f.fact_id::text, f.text, f.subject, f.predicate, f.object, f.confidence, b.valid_at, b.invalid_at,
       f.created_at, b.expired_at, f.negated, b.because, b.episode_id::text, f.revision, b.belief
  FROM clew.facts f
  JOIN clew.fact_beliefs b ON b.tenant_id = %(tenant_id)s AND b.seq = f.seq AND b.seq = ANY(%(seqs)s)
 WHERE f.tenant_id = %(tenant_id)s AND f.seq = ANY(%(seqs)s)
   AND (b.expired_at IS NULL OR NOT EXISTS (SELECT FROM clew.fact_beliefs o
                                             WHERE o.tenant_id = %(tenant_id)s AND o.seq = f.seq AND o.expired_at IS NULL))
 ORDER BY f.seq, b.expired_at IS NULL, CASE WHEN b.expired_at IS NULL THEN b.belief END, b.belief DESC;

-- name: sources
-- Who said so, oldest first. Of a fact that is believed, an episode that was undone says nothing.
SELECT s.seq, s.episode_id::text, e.name, e.source, e.source_description, e.thread_id, s.message_id, s.role, s.quote,
       e.reference_time, e.undone_at IS NOT NULL, s.act, s.confidence
  FROM clew.fact_sources s
  JOIN clew.episodes e ON e.tenant_id = %(tenant_id)s AND e.episode_id = s.episode_id
 WHERE s.tenant_id = %(tenant_id)s AND s.seq = ANY(%(seqs)s)
 ORDER BY e.seq, s.place;

-- name: closers
-- Who said the words that closed some facts, oldest first: they told of the same slot.
SELECT c.seq, s.episode_id::text, e.name, e.source, e.source_description, e.thread_id, s.message_id, s.role, s.quote,
       e.reference_time, e.undone_at IS NOT NULL, s.act, s.confidence
  FROM unnest(%(seqs)s::bigint[], %(quotes)s::text[]) AS c (seq, quote)
  JOIN clew.facts f ON f.tenant_id = %(tenant_id)s AND f.seq = c.seq
  JOIN clew.fact_sources s ON s.tenant_id = %(tenant_id)s AND s.slot = f.slot AND s.quote = c.quote
   AND (s.seq <> c.seq OR s.act <> 'holds')
  JOIN clew.episodes e ON e.tenant_id = %(tenant_id)s AND e.episode_id = s.episode_id
 ORDER BY e.seq, s.place;

-- name: about
-- The facts about a subject, or about all that stands before the verb.
SELECT seq FROM clew.facts
 WHERE tenant_id = %(tenant_id)s AND (subject_key = ANY(%(keys)s) OR topic = ANY(%(keys)s))
 ORDER BY seq
 LIMIT %(limit)s;

-- name: naming
-- The facts whose subject or predicate has all of some words, when none is about exactly them.
SELECT f.seq FROM clew.facts f
 WHERE f.tenant_id = %(tenant_id)s
   AND f.seq IN (SELECT p.seq FROM clew.fact_terms p
                  WHERE p.tenant_id = %(tenant_id)s AND p.term = ANY(%(terms)s)
                  GROUP BY p.seq HAVING count(*) = cardinality(%(terms)s::text[]))
   AND f.topic <> '' AND string_to_array(f.topic || ' ' || f.subject_key, ' ') @> %(terms)s::text[]
 ORDER BY f.seq
 LIMIT %(limit)s;

-- name: names_of
-- The other names of a thing, in both directions.
SELECT entity FROM clew.entity_aliases WHERE tenant_id = %(tenant_id)s AND alias = %(key)s
UNION
SELECT alias FROM clew.entity_aliases WHERE tenant_id = %(tenant_id)s AND entity = %(key)s;

-- name: known_names
-- What some names are known as, in both directions, each with the name that led to it. A name of two things leads to
-- neither.
SELECT min(alias), min(entity) FROM clew.entity_aliases
 WHERE tenant_id = %(tenant_id)s AND alias = ANY(%(keys)s)
 GROUP BY alias HAVING count(DISTINCT entity) = 1
UNION
SELECT entity, alias FROM clew.entity_aliases WHERE tenant_id = %(tenant_id)s AND entity = ANY(%(keys)s);

-- name: neighbours
-- What holds now of some things or leads to them, the newest of each. Each key is one look-up in two indexes.
SELECT seq FROM (
  SELECT f.seq, min(k.place) AS place
    FROM unnest(%(keys)s::text[]) WITH ORDINALITY AS k (key, place)
    CROSS JOIN LATERAL (
      (SELECT s.seq FROM clew.facts s
        WHERE s.tenant_id = %(tenant_id)s AND s.subject_key = k.key
          AND EXISTS (SELECT FROM clew.fact_beliefs b
                       WHERE b.tenant_id = %(tenant_id)s AND b.seq = s.seq AND b.expired_at IS NULL
                         AND COALESCE(b.invalid_at, 'infinity') > statement_timestamp()
                         AND COALESCE(b.valid_at, '-infinity') <= statement_timestamp() + interval '1 hour')
        ORDER BY s.seq DESC LIMIT %(limit)s)
      UNION ALL
      (SELECT o.seq FROM clew.facts o
        WHERE o.tenant_id = %(tenant_id)s AND o.object_key = k.key AND o.object_key <> ''
          AND EXISTS (SELECT FROM clew.fact_beliefs b
                       WHERE b.tenant_id = %(tenant_id)s AND b.seq = o.seq AND b.expired_at IS NULL
                         AND COALESCE(b.invalid_at, 'infinity') > statement_timestamp()
                         AND COALESCE(b.valid_at, '-infinity') <= statement_timestamp() + interval '1 hour')
        ORDER BY o.seq DESC LIMIT %(limit)s)
    ) AS f
   GROUP BY f.seq
) AS found
 ORDER BY place, seq DESC
 LIMIT %(limit)s;

-- name: by_ids
-- The rows of some facts.
SELECT fact_id::text, seq FROM clew.facts WHERE tenant_id = %(tenant_id)s AND fact_id = ANY(%(fact_ids)s::uuid[]);
