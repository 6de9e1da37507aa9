-- Standing instructions: what is wanted of every answer, for a thread, a user or the whole tenant.

-- name: lock
-- Whoever hears or takes back something looks first at what is there: one at a time in a tenant, so that nothing is kept
-- twice. One lock and no order of locks: a transaction may come back for more.
SELECT pg_advisory_xact_lock(hashtextextended('clew.standing ' || %(tenant_id)s, 0));

-- name: seen
-- What holds for a thread: the tenant's, its user's (whoever is named, or else the thread's own) and its own, the oldest
-- first. A join, since a list of (scope, holder) is not looked up in the index: 24 ms, and 0.3 so, at 200,000 rows.
SELECT i.instruction_id::text, i.scope, i.holder, i.text, i.slot, i.forbids, i.about, i.thread_id, i.message_id,
       i.created_at, i.revoked_at, i.revoked_by
  FROM (SELECT 'tenant', ''
         UNION ALL SELECT 'thread', %(thread_id)s::text
         UNION ALL SELECT 'user', coalesce(%(user_id)s::text, (
           SELECT t.user_id FROM clew.threads t
            WHERE t.tenant_id = %(tenant_id)s AND t.thread_id = %(thread_id)s::text))) AS h (scope, holder)
  JOIN clew.standing_instructions i
    ON i.tenant_id = %(tenant_id)s AND i.scope = h.scope AND i.holder = h.holder AND i.revoked_at IS NULL
 ORDER BY i.seq;

-- name: held
-- What one holder has, the oldest first: looked at before anything is added to it.
SELECT instruction_id::text, scope, holder, text, slot, forbids, about, thread_id, message_id, created_at, revoked_at,
       revoked_by
  FROM clew.standing_instructions
 WHERE tenant_id = %(tenant_id)s AND revoked_at IS NULL AND scope = %(scope)s AND holder = %(holder)s
 ORDER BY seq;

-- name: said
-- What a message gave already, taken back since or not: a message that is heard again gives nothing again.
SELECT text
  FROM clew.standing_instructions
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s AND message_id = %(message_id)s;

-- name: told
-- Everything that was ever given in a thread, whether it holds or not.
SELECT text
  FROM clew.standing_instructions
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s
 ORDER BY seq;

-- name: add
-- The identity column keeps the order in which they were given, whatever their clocks said.
INSERT INTO clew.standing_instructions (tenant_id, instruction_id, scope, holder, text, slot, forbids, about, thread_id,
                                        message_id, created_at)
VALUES (%(tenant_id)s, %(instruction_id)s::uuid, %(scope)s, %(holder)s, %(text)s, %(slot)s, %(forbids)s,
        %(about)s::text[], %(thread_id)s, %(message_id)s, coalesce(%(at)s, clock_timestamp()))
RETURNING instruction_id::text, scope, holder, text, slot, forbids, about, thread_id, message_id, created_at, revoked_at,
          revoked_by;

-- name: revoke
-- Marked and kept. The first to take one back is the one that is remembered.
UPDATE clew.standing_instructions
   SET revoked_at = coalesce(%(at)s, clock_timestamp()), revoked_by = %(by)s
 WHERE tenant_id = %(tenant_id)s AND instruction_id = ANY (%(instruction_ids)s::uuid[]) AND revoked_at IS NULL
RETURNING instruction_id::text;

-- name: take_back
-- By words said in a thread: only what holds there, nothing that a program set for the whole tenant, and no wider wish
-- for the same thing as a narrower one that the words give.
UPDATE clew.standing_instructions AS i
   SET revoked_at = coalesce(%(at)s, clock_timestamp()), revoked_by = %(by)s
 WHERE tenant_id = %(tenant_id)s AND instruction_id = ANY (%(instruction_ids)s::uuid[]) AND revoked_at IS NULL
   AND (scope, holder) IN (('tenant', ''), ('user', %(user_id)s::text), ('thread', %(thread_id)s::text))
   AND NOT (scope = 'tenant' AND message_id IS NULL)
   AND NOT EXISTS (SELECT FROM unnest(%(slots)s::text[], %(scopes)s::text[]) AS spared (slot, scope)
                    WHERE spared.slot = i.slot AND spared.scope = i.scope);

-- name: forget_said_in
-- What was said in a thread, whatever it holds for; what holds for a thread was always given in it.
DELETE FROM clew.standing_instructions
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s;

-- name: forget_held_by
-- For clearing a session: what its user asked for beyond it stays. By the thread it was given in, which has an index for
-- what was taken back, too.
DELETE FROM clew.standing_instructions
 WHERE tenant_id = %(tenant_id)s AND thread_id = %(thread_id)s AND scope = 'thread';
