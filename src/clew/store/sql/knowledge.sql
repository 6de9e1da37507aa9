-- Writing knowledge: episodes, facts, beliefs, and the way back.

-- name: lock_slots
-- Episodes about the same thing take effect one after the other; the clock is read when it is our turn, so that beliefs
-- follow each other in the order in which they were made. Whoever takes many slots takes the tenant's lock alone.
SELECT pg_advisory_xact_lock_shared(hashtextextended('clew.knowledge ' || %(tenant_id)s, 0)),
       (SELECT count(pg_advisory_xact_lock(hashtextextended(%(tenant_id)s || ' ' || slot, 1)))
          FROM (SELECT slot FROM unnest(%(slots)s::text[]) AS slot ORDER BY slot) AS ordered);

-- name: lock_tenant
-- For undoing, forgetting and episodes of very many facts: no other writer of this tenant's knowledge meanwhile.
SELECT pg_advisory_xact_lock(hashtextextended('clew.knowledge ' || %(tenant_id)s, 0));

-- name: clock
-- Asked when the locks are held, in a statement of its own: before, another writer's beliefs may still be younger.
SELECT clock_timestamp();

-- name: aliases
-- The other names of things, where a name stands for one thing only.
SELECT alias, min(entity)
  FROM clew.entity_aliases
 WHERE tenant_id = %(tenant_id)s AND alias = ANY(%(keys)s)
 GROUP BY alias
HAVING count(DISTINCT entity) = 1;

-- name: add_aliases
-- What an episode says of names goes when the episode goes.
INSERT INTO clew.entity_aliases (tenant_id, alias, entity, episode_id)
SELECT %(tenant_id)s, alias, entity, %(episode_id)s
  FROM unnest(%(alias)s::text[], %(entity)s::text[]) AS named (alias, entity)
    ON CONFLICT DO NOTHING;

-- name: add_episode
-- First: everything else refers to it.
INSERT INTO clew.episodes (tenant_id, episode_id, name, source, source_description, thread_id, user_id, body,
                           reference_time, created_at)
VALUES (%(tenant_id)s, %(episode_id)s, %(name)s, %(source)s, %(source_description)s, %(thread_id)s, %(user_id)s, %(body)s,
        %(reference_time)s, %(created_at)s);

-- name: held
-- What is believed of some slots now: all of a single-valued one, and of others what has one of these values, or begins
-- with one that ended.
SELECT f.slot, f.seq, f.fact_id::text, f.value, f.object, f.single, f.negated, b.valid_at, b.invalid_at, b.belief,
       b.created_at
  FROM clew.facts f
  JOIN clew.fact_beliefs b ON b.tenant_id = %(tenant_id)s AND b.seq = f.seq AND b.expired_at IS NULL
 WHERE f.tenant_id = %(tenant_id)s AND f.slot = ANY(%(slots)s)
   AND (f.single OR f.value = ANY(%(values)s)
        OR EXISTS (SELECT FROM unnest(%(ended)s::text[]) AS e (beginning) WHERE starts_with(f.value, e.beginning)))
 ORDER BY f.slot, b.valid_at NULLS FIRST, b.belief;

-- name: held_in_slots
-- The same of whole slots, for making them anew from their statements.
SELECT f.slot, f.seq, f.fact_id::text, f.value, f.object, f.single, f.negated, b.valid_at, b.invalid_at, b.belief,
       b.created_at
  FROM clew.facts f
  JOIN clew.fact_beliefs b ON b.tenant_id = %(tenant_id)s AND b.seq = f.seq AND b.expired_at IS NULL
 WHERE f.tenant_id = %(tenant_id)s AND f.slot = ANY(%(slots)s)
 ORDER BY f.slot, b.valid_at NULLS FIRST, b.belief;

-- name: statements_of_slots
-- Everything that was said about some slots and not taken back, in the order in which it took effect.
SELECT s.slot, s.seq, f.fact_id::text, f.value, s.object, s.single, s.act, s.valid_at, s.quote, e.reference_time,
       s.lasting
  FROM clew.fact_sources s
  JOIN clew.episodes e ON e.tenant_id = %(tenant_id)s AND e.episode_id = s.episode_id AND e.undone_at IS NULL
  JOIN clew.facts f ON f.tenant_id = %(tenant_id)s AND f.seq = s.seq
 WHERE s.tenant_id = %(tenant_id)s AND s.slot = ANY(%(slots)s)
 ORDER BY e.seq, s.place;

-- name: undated
-- When facts of some slots were told without a time of their own.
SELECT f.fact_id::text, array_agg(s.valid_at)
  FROM clew.fact_sources s
  JOIN clew.episodes e ON e.tenant_id = %(tenant_id)s AND e.episode_id = s.episode_id AND e.undone_at IS NULL
  JOIN clew.facts f ON f.tenant_id = %(tenant_id)s AND f.seq = s.seq
 WHERE s.tenant_id = %(tenant_id)s AND s.slot = ANY(%(slots)s) AND s.act = 'holds' AND s.valid_at = e.reference_time
 GROUP BY f.fact_id;

-- name: add_facts
-- One statement for all of an episode's.
INSERT INTO clew.facts (tenant_id, fact_id, text, subject, predicate, object, subject_key, object_key, topic, slot, value,
                        single, negated, confidence, length, created_at)
SELECT %(tenant_id)s, *
  FROM unnest(%(fact_id)s::uuid[], %(text)s::text[], %(subject)s::text[], %(predicate)s::text[], %(object)s::text[],
              %(subject_key)s::text[], %(object_key)s::text[], %(topic)s::text[], %(slot)s::text[], %(value)s::text[],
              %(single)s::boolean[], %(negated)s::boolean[], %(confidence)s::real[], %(length)s::int[], %(created_at)s::timestamptz[])
RETURNING fact_id::text, seq;

-- name: add_sources
-- The statements, each with the fact that it made or supports.
INSERT INTO clew.fact_sources (tenant_id, episode_id, place, seq, slot, act, single, lasting, valid_at, text, subject,
                               predicate, object, confidence, told, message_id, role, quote)
SELECT %(tenant_id)s, %(episode_id)s, *
  FROM unnest(%(place)s::int[], %(seq)s::bigint[], %(slot)s::text[], %(act)s::text[], %(single)s::boolean[],
              %(lasting)s::boolean[], %(valid_at)s::timestamptz[], %(text)s::text[], %(subject)s::text[], %(predicate)s::text[],
              %(object)s::text[], %(confidence)s::real[], %(told)s::jsonb[], %(message_id)s::text[], %(role)s::text[],
              %(quote)s::text[]);

-- name: expire_beliefs
-- A statement of its own before add_beliefs: in one, both see the same snapshot and the unique index refuses.
UPDATE clew.fact_beliefs SET expired_at = %(at)s
 WHERE tenant_id = %(tenant_id)s AND belief = ANY(%(beliefs)s) AND expired_at IS NULL;

-- name: add_beliefs
-- What is believed from now on.
INSERT INTO clew.fact_beliefs (tenant_id, seq, slot, single, valid_at, invalid_at, created_at, episode_id, because)
SELECT %(tenant_id)s, seq, slot, single, valid_at, invalid_at, %(at)s, %(episode_id)s, because
  FROM unnest(%(seq)s::bigint[], %(slot)s::text[], %(single)s::boolean[], %(valid_at)s::timestamptz[],
              %(invalid_at)s::timestamptz[], %(because)s::text[]) AS b (seq, slot, single, valid_at, invalid_at, because);

-- name: add_terms
-- One row a distinct term.
INSERT INTO clew.fact_terms (tenant_id, term, seq, frequency, length)
SELECT %(tenant_id)s, *
  FROM unnest(%(term)s::text[], %(seq)s::bigint[], %(frequency)s::smallint[], %(length)s::int[]);

-- name: add_vectors
-- As text: halfvec has no array of its own to send.
INSERT INTO clew.fact_vectors (tenant_id, space, seq, embedding)
SELECT %(tenant_id)s, %(space)s, v.seq, v.embedding::halfvec
  FROM unnest(%(seq)s::bigint[], %(embedding)s::text[]) AS v (seq, embedding);

-- name: add_total
-- One of sixteen rows, chosen by the writer.
INSERT INTO clew.fact_totals (tenant_id, shard, facts, length)
VALUES (%(tenant_id)s, %(shard)s, %(facts)s, %(length)s)
    ON CONFLICT (tenant_id, shard)
    DO UPDATE SET facts = fact_totals.facts + excluded.facts, length = fact_totals.length + excluded.length;

-- name: add_changes
-- The audit log.
INSERT INTO clew.fact_changes (tenant_id, fact_id, episode_id, act, before, after, at)
SELECT %(tenant_id)s, c.fact_id, %(episode_id)s, c.act, c.before, c.after, %(at)s
  FROM unnest(%(fact_id)s::uuid[], %(act)s::text[], %(before)s::jsonb[], %(after)s::jsonb[])
       AS c (fact_id, act, before, after);

-- name: undo_episode
-- Marked, not deleted; nothing when there is none of this id.
UPDATE clew.episodes SET undone_at = COALESCE(undone_at, %(at)s)
 WHERE tenant_id = %(tenant_id)s AND episode_id = %(episode_id)s
RETURNING undone_at = %(at)s;

-- name: slots_of_episodes
-- What some episodes said something about.
SELECT DISTINCT slot FROM clew.fact_sources WHERE tenant_id = %(tenant_id)s AND episode_id = ANY(%(episode_ids)s::uuid[]);

-- name: episodes
-- What was learnt last, newest first.
SELECT episode_id::text, name, source, source_description, reference_time, created_at, thread_id, user_id,
       undone_at IS NOT NULL
  FROM clew.episodes
 WHERE tenant_id = %(tenant_id)s
 ORDER BY seq DESC
 LIMIT %(limit)s;

-- name: episodes_of_thread
-- What was learnt from one conversation.
SELECT episode_id::text FROM clew.episodes WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s;

-- name: known_episodes
-- Those of some ids that are there.
SELECT episode_id::text FROM clew.episodes WHERE tenant_id = %(tenant_id)s AND episode_id = ANY(%(episode_ids)s::uuid[]);

-- name: facts_of_episodes
-- The facts that some episodes support, and whether others do too.
SELECT DISTINCT f.seq, f.fact_id::text, f.length,
       EXISTS (SELECT FROM clew.fact_sources o
                WHERE o.tenant_id = %(tenant_id)s AND o.seq = f.seq AND o.episode_id <> ALL(%(episode_ids)s::uuid[]))
  FROM clew.fact_sources s
  JOIN clew.facts f ON f.tenant_id = %(tenant_id)s AND f.seq = s.seq
 WHERE s.tenant_id = %(tenant_id)s AND s.episode_id = ANY(%(episode_ids)s::uuid[]);

-- name: drop_episodes
-- Their statements and aliases go with them.
DELETE FROM clew.episodes WHERE tenant_id = %(tenant_id)s AND episode_id = ANY(%(episode_ids)s::uuid[]);

-- name: drop_facts
-- Their beliefs go with them.
DELETE FROM clew.facts WHERE tenant_id = %(tenant_id)s AND seq = ANY(%(seqs)s);

-- name: drop_terms
-- Of facts that go, or whose words become another source's.
DELETE FROM clew.fact_terms WHERE tenant_id = %(tenant_id)s AND seq = ANY(%(seqs)s);

-- name: drop_vectors
-- In every space.
DELETE FROM clew.fact_vectors WHERE tenant_id = %(tenant_id)s AND seq = ANY(%(seqs)s);

-- name: quotes
-- What some episodes said, word for word, in what is remembered of why.
SELECT DISTINCT quote FROM clew.fact_sources WHERE tenant_id = %(tenant_id)s AND episode_id = ANY(%(episode_ids)s::uuid[]);

-- name: silence_beliefs
-- A belief outlives the source that caused it; the source's words do not, also where another episode or an undoing made
-- the belief anew.
UPDATE clew.fact_beliefs SET because = NULL
 WHERE tenant_id = %(tenant_id)s AND because IS NOT NULL
   AND (episode_id = ANY(%(episode_ids)s::uuid[])
        OR (because = ANY(%(quotes)s)
            AND seq IN (SELECT f.seq FROM clew.facts f WHERE f.tenant_id = %(tenant_id)s AND f.slot = ANY(%(slots)s))));

-- name: silence_changes
-- The log says that something was changed, and no longer what it said.
UPDATE clew.fact_changes SET before = NULL, after = NULL
 WHERE tenant_id = %(tenant_id)s
   AND (episode_id = ANY(%(episode_ids)s::uuid[]) OR fact_id = ANY(%(fact_ids)s::uuid[])
        OR ((before->>'because' = ANY(%(quotes)s) OR after->>'because' = ANY(%(quotes)s))
            AND fact_id IN (SELECT f.fact_id FROM clew.facts f
                             WHERE f.tenant_id = %(tenant_id)s AND f.slot = ANY(%(slots)s))));

-- name: gave_names
-- Whether some episodes said that two names are one.
SELECT EXISTS (SELECT FROM clew.entity_aliases
                WHERE tenant_id = %(tenant_id)s AND episode_id = ANY(%(episode_ids)s::uuid[]));

-- name: renamed_sources
-- Statements under a name that another episode gave, of facts that nobody told under that name itself.
SELECT s.seq, s.episode_id::text, s.place, s.slot, s.told
  FROM clew.fact_sources s
 WHERE s.tenant_id = %(tenant_id)s AND s.told IS NOT NULL
   AND NOT EXISTS (SELECT FROM clew.fact_sources o
                    WHERE o.tenant_id = %(tenant_id)s AND o.seq = s.seq AND o.told IS NULL)
 ORDER BY s.seq, s.episode_id, s.place;

-- name: expire_facts
-- Before they move: the index of open beliefs has room for one a slot.
UPDATE clew.fact_beliefs SET expired_at = GREATEST(created_at, %(at)s)
 WHERE tenant_id = %(tenant_id)s AND seq = ANY(%(seq)s) AND expired_at IS NULL;

-- name: move_facts
-- Under the names that are known still.
UPDATE clew.facts f SET slot = m.slot, topic = m.topic, subject_key = m.subject_key
  FROM unnest(%(seq)s::bigint[], %(slot)s::text[], %(topic)s::text[], %(subject_key)s::text[])
       AS m (seq, slot, topic, subject_key)
 WHERE f.tenant_id = %(tenant_id)s AND f.seq = m.seq;

-- name: move_beliefs
-- With their facts.
UPDATE clew.fact_beliefs b SET slot = m.slot
  FROM unnest(%(seq)s::bigint[], %(slot)s::text[]) AS m (seq, slot)
 WHERE b.tenant_id = %(tenant_id)s AND b.seq = m.seq;

-- name: move_sources
-- With their facts. What is renamed no more was told so.
UPDATE clew.fact_sources s SET slot = m.slot, told = CASE WHEN s.told->>1 = m.slot THEN NULL ELSE s.told END
  FROM unnest(%(seq)s::bigint[], %(slot)s::text[]) AS m (seq, slot)
 WHERE s.tenant_id = %(tenant_id)s AND s.seq = m.seq;

-- name: reworded
-- A fact in the words of the first source that it still has.
UPDATE clew.facts f
   SET text = s.text, subject = s.subject, predicate = s.predicate, object = s.object, confidence = s.confidence,
       revision = f.revision + 1
  FROM (SELECT DISTINCT ON (s.seq) s.seq, s.text, s.subject, s.predicate, s.object, s.confidence
          FROM clew.fact_sources s
          JOIN clew.episodes e ON e.tenant_id = %(tenant_id)s AND e.episode_id = s.episode_id
         WHERE s.tenant_id = %(tenant_id)s AND s.seq = ANY(%(seqs)s)
         ORDER BY s.seq, e.seq, s.place) AS s
 WHERE f.tenant_id = %(tenant_id)s AND f.seq = s.seq
RETURNING f.seq, f.text, f.subject, f.predicate, f.length, f.object, f.object_key <> '';

-- name: set_length
-- After its words were replaced, and the name that it leads to.
UPDATE clew.facts f SET length = n.length, object_key = n.object_key
  FROM unnest(%(seq)s::bigint[], %(length)s::int[], %(object_key)s::text[]) AS n (seq, length, object_key)
 WHERE f.tenant_id = %(tenant_id)s AND f.seq = n.seq;

-- name: changes
-- The audit log, newest first.
SELECT change, fact_id::text, episode_id::text, act, before, after, at
  FROM clew.fact_changes
 WHERE tenant_id = %(tenant_id)s
   AND (%(fact_id)s::uuid IS NULL OR fact_id = %(fact_id)s::uuid)
   AND (%(episode_id)s::uuid IS NULL OR episode_id = %(episode_id)s::uuid)
 ORDER BY change DESC
 LIMIT %(limit)s;

-- name: lacking
-- Facts without a vector in a space: their words were replaced, or the tenant moved to another model.
SELECT f.seq, f.revision, f.text
  FROM clew.facts f
 WHERE f.tenant_id = %(tenant_id)s
   AND NOT EXISTS (SELECT FROM clew.fact_vectors v
                    WHERE v.tenant_id = %(tenant_id)s AND v.space = %(space)s AND v.seq = f.seq)
 ORDER BY f.seq
 LIMIT %(limit)s;

-- name: add_lacking
-- Only for facts that still say what was embedded.
INSERT INTO clew.fact_vectors (tenant_id, space, seq, embedding)
SELECT %(tenant_id)s, %(space)s, v.seq, v.embedding::halfvec
  FROM unnest(%(seq)s::bigint[], %(revision)s::int[], %(embedding)s::text[]) AS v (seq, revision, embedding)
  JOIN clew.facts f ON f.tenant_id = %(tenant_id)s AND f.seq = v.seq AND f.revision = v.revision
    ON CONFLICT DO NOTHING;

-- name: drop_other_spaces
-- Vectors of a model that does not answer any more.
DELETE FROM clew.fact_vectors WHERE tenant_id = %(tenant_id)s AND space <> %(space)s;
