-- Artifacts and the objects under them. A blob's row has one of three states: being written (no digest yet), stored, or
-- condemned (empty `chunks`; a stored one has at least a byte there). A condemned blob can't be finished, found or named
-- any more, so that its object can be deleted outside a transaction. Its digest is its own id, which nothing has.

-- name: find_blob
-- The object that holds these bytes already.
SELECT blob_id::text
  FROM clew.blobs
 WHERE tenant_id = %(tenant_id)s AND sha256 = %(sha256)s AND chunks <> '';

-- name: hold_blob
-- The same, and it stays until this transaction ends: a collector that has it goes first, and then it isn't found.
SELECT blob_id::text
  FROM clew.blobs
 WHERE tenant_id = %(tenant_id)s AND sha256 = %(sha256)s AND chunks <> ''
   FOR KEY SHARE;

-- name: begin_blob
-- Before the object: whatever comes of the write, a row says where to look.
INSERT INTO clew.blobs (tenant_id, blob_id) VALUES (%(tenant_id)s, %(blob_id)s::uuid);

-- name: finish_blob
-- After the object. No row when a collector took the write for a dead one; a second row with the digest is refused.
UPDATE clew.blobs
   SET sha256 = %(sha256)s, size = %(size)s, chunks = %(chunks)s
 WHERE tenant_id = %(tenant_id)s AND blob_id = %(blob_id)s::uuid AND sha256 IS NULL
RETURNING true;

-- name: end_blob
-- With the next one, how a long write says that it is alive: the row is made anew.
DELETE FROM clew.blobs
 WHERE tenant_id = %(tenant_id)s AND blob_id = %(blob_id)s::uuid AND sha256 IS NULL
RETURNING true;

-- name: abandon_blob
-- A write that failed. One that was finished after all, though nobody heard of it, stays.
UPDATE clew.blobs
   SET sha256 = uuid_send(blob_id) || uuid_send(blob_id), size = 0, chunks = ''
 WHERE tenant_id = %(tenant_id)s AND blob_id = %(blob_id)s::uuid AND sha256 IS NULL;

-- name: is_stored
-- Whether an object is one that artifacts may name. A statement of its own: the one above may have waited.
SELECT EXISTS (SELECT FROM clew.blobs
                WHERE tenant_id = %(tenant_id)s AND blob_id = %(blob_id)s::uuid AND chunks <> '');

-- name: forget_blobs
-- After their objects.
DELETE FROM clew.blobs
 WHERE tenant_id = %(tenant_id)s AND blob_id = ANY (%(blob_ids)s::uuid[]) AND chunks = '';

-- name: claim_artifact
-- The same bytes as the same kind of thing are one artifact: the second time it is kept for as long as either wanted, and
-- what the first time left unsaid is filled in. No row when the id stands for other bytes.
INSERT INTO clew.artifacts AS a (tenant_id, artifact_id, blob_id, media_type, name, details, keep, keep_seconds)
VALUES (%(tenant_id)s, %(artifact_id)s, %(blob_id)s::uuid, %(media_type)s, %(name)s, %(details)s,
        %(keep)s, %(keep_seconds)s)
    ON CONFLICT (tenant_id, artifact_id) DO UPDATE
   SET name = coalesce(a.name, excluded.name),
       details = excluded.details || a.details,
       keep = CASE WHEN 'forever' IN (a.keep, excluded.keep) THEN 'forever'
                   WHEN a.keep = excluded.keep THEN a.keep
                   ELSE 'last_used' END,
       -- A ttl counts from the first time: what the second time asks for is added to what has passed.
       keep_seconds = CASE WHEN 'forever' IN (a.keep, excluded.keep) THEN NULL
                           WHEN a.keep = 'ttl' AND excluded.keep = 'ttl' THEN
                             greatest(a.keep_seconds, excluded.keep_seconds
                               + ceil(extract(epoch FROM statement_timestamp() - a.created_at))::bigint)
                           ELSE greatest(a.keep_seconds, excluded.keep_seconds) END,
       used_at = greatest(a.used_at, statement_timestamp())
 WHERE a.blob_id = excluded.blob_id AND a.media_type = excluded.media_type
RETURNING artifact_id, media_type, name, created_at, details, keep, keep_seconds;

-- name: find
-- One artifact with what its bytes must be; and whether it is time to note that it was used, so that reads rarely write.
SELECT a.artifact_id, a.media_type, a.name, a.created_at, a.details, a.keep, a.keep_seconds,
       b.blob_id::text, b.sha256, b.size, b.chunks,
       a.used_at < statement_timestamp() - make_interval(secs => %(touch_after_s)s) AS touch
  FROM clew.artifacts a
  JOIN clew.blobs b USING (tenant_id, blob_id)
 WHERE a.tenant_id = %(tenant_id)s AND a.artifact_id = %(artifact_id)s;

-- name: touch
-- No row when a collector was quicker.
UPDATE clew.artifacts
   SET used_at = greatest(used_at, statement_timestamp())
 WHERE tenant_id = %(tenant_id)s AND artifact_id = %(artifact_id)s
RETURNING true;

-- name: newest
-- What there is, newest first.
SELECT a.artifact_id, a.media_type, a.name, a.created_at, a.details, a.keep, a.keep_seconds, b.sha256, b.size
  FROM clew.artifacts a
  JOIN clew.blobs b USING (tenant_id, blob_id)
 WHERE a.tenant_id = %(tenant_id)s
 ORDER BY a.created_at DESC, a.artifact_id
 LIMIT %(limit)s OFFSET %(offset)s;

-- name: next_ending
-- When it is worth collecting again: at the next end of a lifetime, or now when all that is not kept for ever has ended.
SELECT coalesce(ceil(extract(epoch FROM min(a.ending) FILTER (WHERE a.ending > now()) - now())), 0)::bigint
  FROM (SELECT CASE keep WHEN 'ttl' THEN created_at ELSE used_at END + make_interval(secs => keep_seconds) AS ending
          FROM clew.artifacts
         WHERE tenant_id = %(tenant_id)s AND keep <> 'forever') AS a
HAVING count(*) > 0;

-- name: hold_expired
-- Artifacts whose lifetime is over and that nobody stored or used of late, one batch after the other. Locked: a message
-- that names one now waits for us, and one that did a moment ago makes us pass over it.
SELECT artifact_id
  FROM clew.artifacts
 WHERE tenant_id = %(tenant_id)s AND keep <> 'forever' AND artifact_id > %(after)s
   AND used_at < statement_timestamp() - make_interval(secs => %(grace_s)s)
   AND CASE keep WHEN 'ttl' THEN created_at ELSE used_at END + make_interval(secs => keep_seconds)
       <= statement_timestamp()
 ORDER BY artifact_id
 LIMIT %(limit)s
   FOR UPDATE SKIP LOCKED;

-- name: named_by_threads
-- Which of them a conversation names. A statement of its own: the one above may have waited, and this one sees for what.
SELECT DISTINCT artifact_id
  FROM clew.artifact_uses
 WHERE tenant_id = %(tenant_id)s AND artifact_id = ANY (%(artifact_ids)s);

-- name: named_by_checkpoints
-- Which of them a LangGraph state of the tenant holds: every id in its bytes, in one pass over them however many are
-- asked for. The search for four letters first leaves out all that hold none, without looking for a pattern.
WITH texts (text) AS (
  SELECT checkpoint::text || metadata::text
    FROM clew_lg_00.checkpoints
   WHERE thread_id >= %(from)s AND thread_id < %(to)s AND strpos(checkpoint::text || metadata::text, 'art_') > 0
   UNION ALL
  SELECT encode(blob, 'escape')
    FROM clew_lg_00.checkpoint_blobs
   WHERE thread_id >= %(from)s AND thread_id < %(to)s AND position('art_'::bytea IN blob) > 0
   UNION ALL
  SELECT encode(blob, 'escape')
    FROM clew_lg_00.checkpoint_writes
   WHERE thread_id >= %(from)s AND thread_id < %(to)s AND position('art_'::bytea IN blob) > 0
)
SELECT DISTINCT found.id[1]
  FROM texts CROSS JOIN LATERAL regexp_matches(text, 'art_[a-z2-7]{16}', 'g') AS found (id)
 WHERE found.id[1] = ANY (%(artifact_ids)s);

-- name: delete_artifacts
-- Answers with the objects they named.
DELETE FROM clew.artifacts
 WHERE tenant_id = %(tenant_id)s AND artifact_id = ANY (%(artifact_ids)s)
RETURNING blob_id::text;

-- name: hold_blobs
-- Locked before it is asked whether anything names them: whoever is about to name one goes first, and keeps it.
SELECT blob_id::text
  FROM clew.blobs
 WHERE tenant_id = %(tenant_id)s AND blob_id = ANY (%(blob_ids)s::uuid[])
 ORDER BY blob_id
   FOR UPDATE SKIP LOCKED;

-- name: hold_orphans
-- What interrupted writes and deletions left: the condemned at once; the unfinished, and those that nothing names, when
-- they are old enough.
SELECT blob_id::text
  FROM clew.blobs b
 WHERE tenant_id = %(tenant_id)s
   AND (chunks = '' OR created_at < statement_timestamp() - make_interval(secs => %(grace_s)s))
   AND NOT EXISTS (SELECT FROM clew.artifacts a WHERE a.tenant_id = b.tenant_id AND a.blob_id = b.blob_id)
 ORDER BY blob_id
 LIMIT %(limit)s
   FOR UPDATE SKIP LOCKED;

-- name: condemn_blobs
-- Those that still nothing names. From here on nobody can: their objects may go.
UPDATE clew.blobs b
   SET sha256 = uuid_send(b.blob_id) || uuid_send(b.blob_id), size = 0, chunks = ''
  FROM clew.blobs old
 WHERE b.tenant_id = %(tenant_id)s AND b.blob_id = ANY (%(blob_ids)s::uuid[])
   AND old.tenant_id = b.tenant_id AND old.blob_id = b.blob_id
   AND NOT EXISTS (SELECT FROM clew.artifacts a WHERE a.tenant_id = b.tenant_id AND a.blob_id = b.blob_id)
RETURNING b.blob_id::text, coalesce(old.size, 0);

-- name: freed_bytes
-- What a deletion of these artifacts would free: their objects, unless another artifact names one too.
SELECT coalesce(sum(b.size), 0)::bigint
  FROM clew.blobs b
 WHERE b.tenant_id = %(tenant_id)s
   AND EXISTS (SELECT FROM clew.artifacts a
                WHERE a.tenant_id = b.tenant_id AND a.blob_id = b.blob_id AND a.artifact_id = ANY (%(artifact_ids)s))
   AND NOT EXISTS (SELECT FROM clew.artifacts a
                    WHERE a.tenant_id = b.tenant_id AND a.blob_id = b.blob_id
                      AND a.artifact_id <> ALL (%(artifact_ids)s));

-- name: known_blobs
-- Which of these objects have a row.
SELECT blob_id::text
  FROM clew.blobs
 WHERE tenant_id = %(tenant_id)s AND blob_id = ANY (%(blob_ids)s::uuid[]);

-- name: stored_blobs
-- Every object that must be there, a page after the other.
SELECT blob_id::text, size
  FROM clew.blobs
 WHERE tenant_id = %(tenant_id)s AND blob_id > %(after)s::uuid AND chunks <> ''
 ORDER BY blob_id
 LIMIT %(limit)s;

-- name: artifacts_of_blobs
-- What is lost with these objects.
SELECT artifact_id
  FROM clew.artifacts
 WHERE tenant_id = %(tenant_id)s AND blob_id = ANY (%(blob_ids)s::uuid[])
 ORDER BY artifact_id;

-- name: identity
-- Which database this is, among all that there are: the cluster's own number, and the database's in it.
SELECT system_identifier || '-' || (SELECT oid FROM pg_database WHERE datname = current_database())
  FROM pg_control_system();
