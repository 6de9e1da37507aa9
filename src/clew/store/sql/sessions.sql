-- The conversation log: threads, what was said in them, and the keys under which it was sent.

-- name: claim
-- The first with a key gets a row; the others wait for it to commit and get none.
INSERT INTO clew.appends (tenant_id, thread_id, idempotency_key, digest, message_ids)
VALUES (%(tenant_id)s, %(thread_id)s, %(idempotency_key)s, %(digest)s, %(message_ids)s::uuid[])
    ON CONFLICT (tenant_id, thread_id, idempotency_key) DO NOTHING
RETURNING true;

-- name: claimed
-- A statement of its own: the one above may have waited, and this one sees what it waited for.
SELECT digest, message_ids::text[]
  FROM clew.appends
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s AND idempotency_key = %(idempotency_key)s;

-- name: grow
-- Takes the thread's row and with it the next positions: writers queue here, so that positions have no gap and no fork.
-- Who comes first with a user's id says whose the thread is; the caller compares.
INSERT INTO clew.threads AS t (tenant_id, thread_id, message_count, token_count, user_id)
VALUES (%(tenant_id)s, %(thread_id)s, %(count)s, %(total)s, %(user_id)s::text)
    ON CONFLICT (tenant_id, thread_id) DO UPDATE
   SET message_count = t.message_count + excluded.message_count,
       token_count = t.token_count + excluded.token_count,
       updated_at = greatest(t.updated_at, clock_timestamp()),
       user_id = coalesce(t.user_id, excluded.user_id)
RETURNING message_count - %(count)s, user_id;

-- name: user_of
-- For a repeated append, which adds nothing.
SELECT user_id FROM clew.threads WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s;

-- name: add
-- One statement however many messages: a round trip each is 30 times slower.
INSERT INTO clew.messages (tenant_id, thread_id, position, message_id, tokens, words, message, pinned)
SELECT %(tenant_id)s, %(thread_id)s, %(before)s + m.number, m.message_id, m.tokens, m.words, m.message::json, m.pinned
  FROM unnest(%(message_ids)s::uuid[], %(tokens)s::integer[], %(words)s::text[], %(messages)s::text[],
              %(pinned)s::boolean[])
       WITH ORDINALITY AS m (message_id, tokens, words, message, pinned, number);

-- name: tail
-- The last messages, newest first, before a position when one is given: a backward scan of the primary key.
SELECT thread_id, position, message_id::text, tokens, created_at, message::text
  FROM clew.messages
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s
   AND position < coalesce(%(before)s::bigint, 9223372036854775807)
 ORDER BY position DESC
 LIMIT %(limit)s;

-- name: at_positions
-- Where a short reference leads: pinned messages of a compacted stretch, and what a model asks to see again.
SELECT thread_id, position, message_id::text, tokens, created_at, message::text
  FROM clew.messages
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s AND position = ANY (%(positions)s::bigint[])
 ORDER BY position;

-- name: by_id
-- Where a reference leads.
SELECT thread_id, position, message_id::text, tokens, created_at, message::text
  FROM clew.messages
 WHERE tenant_id = %(tenant_id)s AND message_id = %(message_id)s::uuid;

-- name: search
-- Messages that hold every one of the words, newest first. A substring test has no dictionary, no language and no limit
-- on a message's length: a tsvector refuses texts above 1 MB.
SELECT m.thread_id, m.position, m.message_id::text, m.tokens, m.created_at, m.message::text
  FROM clew.messages m
 WHERE m.tenant_id = %(tenant_id)s AND m.thread_id = %(thread_id)s
   AND NOT EXISTS (SELECT FROM unnest(%(wanted)s::text[]) AS w (words) WHERE strpos(m.words, w.words) = 0)
 ORDER BY m.position DESC
 LIMIT %(limit)s;

-- name: search_any
-- Messages that hold some of the words: those with the most of them first, then the newest.
SELECT m.thread_id, m.position, m.message_id::text, m.tokens, m.created_at, m.message::text
  FROM clew.messages m
 CROSS JOIN LATERAL (
   SELECT count(*) AS held FROM unnest(%(wanted)s::text[]) AS w (words) WHERE strpos(m.words, w.words) > 0) AS h
 WHERE m.tenant_id = %(tenant_id)s AND m.thread_id = %(thread_id)s AND h.held > 0
 ORDER BY h.held DESC, m.position DESC
 LIMIT %(limit)s;

-- name: threads
-- The most recently active first.
SELECT thread_id, message_count, token_count, created_at, updated_at, user_id
  FROM clew.threads
 WHERE tenant_id = %(tenant_id)s
 ORDER BY updated_at DESC, thread_id
 LIMIT %(limit)s OFFSET %(offset)s;

-- name: forget_thread
-- The messages and the keys go with it, by their foreign keys: nobody has the right to delete just some of them.
DELETE FROM clew.threads
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s
RETURNING message_count, token_count;
