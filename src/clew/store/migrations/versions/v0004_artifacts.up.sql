-- One object in the object store. The row is committed before the object is written and goes after it was deleted, so
-- that every object has a row. `sha256` is null until all bytes are there; a row that no artifact names is an orphan.
-- `chunks` holds the digest of each stretch of the object, so that a part of it can be read and trusted.
CREATE TABLE clew.blobs (
  tenant_id  text        NOT NULL CHECK (tenant_id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  blob_id    uuid        NOT NULL,
  sha256     bytea       CHECK (octet_length(sha256) = 32),
  size       bigint      CHECK (size >= 0),
  chunks     bytea,
  created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  PRIMARY KEY (tenant_id, blob_id),
  UNIQUE (tenant_id, sha256),
  CHECK (num_nonnulls(sha256, size, chunks) IN (0, 3))
);
GRANT SELECT, INSERT, DELETE, UPDATE (sha256, size, chunks) ON clew.blobs TO clew_app;

-- Bytes as something: what kind of thing they are, what they were called, and how long they are kept. The id comes from
-- the digest and the media type: the same thing twice is one row.
CREATE TABLE clew.artifacts (
  tenant_id    text        NOT NULL,
  artifact_id  text        NOT NULL CHECK (artifact_id ~ '^art_[a-z2-7]{16}$'),
  blob_id      uuid        NOT NULL,
  media_type   text        NOT NULL CHECK (media_type <> ''),
  name         text,
  details      jsonb       NOT NULL DEFAULT '{}',
  keep         text        NOT NULL DEFAULT 'forever' CHECK (keep IN ('forever', 'ttl', 'last_used')),
  keep_seconds bigint      CHECK (keep_seconds >= 0),
  created_at   timestamptz NOT NULL DEFAULT statement_timestamp(),
  used_at      timestamptz NOT NULL DEFAULT statement_timestamp(),
  PRIMARY KEY (tenant_id, artifact_id),
  FOREIGN KEY (tenant_id, blob_id) REFERENCES clew.blobs DEFERRABLE INITIALLY DEFERRED,
  CHECK ((keep = 'forever') = (keep_seconds IS NULL))
);
CREATE INDEX artifacts_by_blob ON clew.artifacts (tenant_id, blob_id);
CREATE INDEX artifacts_newest ON clew.artifacts (tenant_id, created_at DESC, artifact_id);
CREATE INDEX artifacts_ending ON clew.artifacts (tenant_id, used_at) WHERE keep <> 'forever';
GRANT SELECT, INSERT, DELETE, UPDATE (name, details, keep, keep_seconds, used_at) ON clew.artifacts TO clew_app;

-- Which threads' messages name which artifacts: what the collector must not delete.
CREATE TABLE clew.artifact_uses (
  tenant_id   text NOT NULL,
  artifact_id text NOT NULL,
  thread_id   text NOT NULL,
  PRIMARY KEY (tenant_id, artifact_id, thread_id),
  FOREIGN KEY (tenant_id, artifact_id) REFERENCES clew.artifacts DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX artifact_uses_of_thread ON clew.artifact_uses (tenant_id, thread_id);
GRANT SELECT, INSERT, DELETE ON clew.artifact_uses TO clew_app;

-- Whoever appends a message records what it names: here, so that no way of writing one can forget it. The lock lets a
-- collector that holds the artifact go first, and makes one that comes later wait and see the use.
CREATE FUNCTION clew.note_artifact_uses() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO clew.artifact_uses (tenant_id, artifact_id, thread_id)
  SELECT NEW.tenant_id, a.artifact_id, NEW.thread_id
    FROM clew.artifacts a
   WHERE a.tenant_id = NEW.tenant_id
     AND a.artifact_id IN (SELECT m[1] FROM regexp_matches(NEW.message::text, '(art_[a-z2-7]{16})', 'g') AS m)
     FOR KEY SHARE
      ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER note_artifact_uses AFTER INSERT ON clew.messages
  FOR EACH ROW WHEN (strpos(NEW.message::text, 'art_') > 0) EXECUTE FUNCTION clew.note_artifact_uses();

-- A tool's full result, and what the model was shown of it. A call's id is the provider's and need not be unique: the
-- newest row answers. The counts outlive the artifact.
CREATE TABLE clew.tool_results (
  tenant_id    text        NOT NULL CHECK (tenant_id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  result_id    uuid        NOT NULL,
  tool_call_id text        NOT NULL CHECK (tool_call_id <> ''),
  thread_id    text,
  tool         text        NOT NULL,
  artifact_id  text,
  form         text        NOT NULL,
  full_tokens  bigint      NOT NULL CHECK (full_tokens >= 0),
  shown_tokens bigint      NOT NULL CHECK (shown_tokens >= 0),
  created_at   timestamptz NOT NULL DEFAULT statement_timestamp(),
  PRIMARY KEY (tenant_id, result_id),
  FOREIGN KEY (tenant_id, artifact_id) REFERENCES clew.artifacts ON DELETE SET NULL (artifact_id)
);
CREATE INDEX tool_results_of_call ON clew.tool_results (tenant_id, tool_call_id, result_id);
CREATE INDEX tool_results_of_thread ON clew.tool_results (tenant_id, thread_id, tool);
CREATE INDEX tool_results_of_artifact ON clew.tool_results (tenant_id, artifact_id);
GRANT SELECT, INSERT, DELETE, UPDATE (artifact_id) ON clew.tool_results TO clew_app;

-- With a thread go its tool results and its uses, and what only they kept is free to be collected.
CREATE FUNCTION clew.release_artifacts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM clew.artifact_uses u WHERE u.tenant_id = OLD.tenant_id AND u.thread_id = OLD.thread_id;
  UPDATE clew.artifacts a SET keep = 'ttl', keep_seconds = 0
   WHERE a.tenant_id = OLD.tenant_id
     AND a.artifact_id IN (SELECT r.artifact_id FROM clew.tool_results r
                            WHERE r.tenant_id = OLD.tenant_id AND r.thread_id = OLD.thread_id)
     AND NOT EXISTS (SELECT FROM clew.tool_results r
                      WHERE r.tenant_id = OLD.tenant_id AND r.artifact_id = a.artifact_id
                        AND r.thread_id IS DISTINCT FROM OLD.thread_id);
  DELETE FROM clew.tool_results r WHERE r.tenant_id = OLD.tenant_id AND r.thread_id = OLD.thread_id;
  RETURN NULL;
END $$;
CREATE TRIGGER release_artifacts AFTER DELETE ON clew.threads
  FOR EACH ROW EXECUTE FUNCTION clew.release_artifacts();

-- Messages that never leave the window, found without reading the log.
ALTER TABLE clew.messages ADD COLUMN pinned boolean NOT NULL DEFAULT false;
CREATE INDEX messages_pinned ON clew.messages (tenant_id, thread_id, position) WHERE pinned;

-- What a model sees instead of a thread's older messages. Generations follow each other; the newest is the view. The
-- key lets two compactions of one thread produce one. `log_tokens` is what the whole log cost at that time: with
-- `tokens_after` it tells what the view has grown to since.
CREATE TABLE clew.compactions (
  tenant_id     text        NOT NULL,
  thread_id     text        NOT NULL,
  generation    integer     NOT NULL CHECK (generation >= 1),
  compaction_id uuid        NOT NULL,
  through       bigint      NOT NULL CHECK (through >= 0),
  view          json        NOT NULL,
  tiers         text[]      NOT NULL,
  log_tokens    bigint      NOT NULL,
  tokens_before bigint      NOT NULL,
  tokens_after  bigint      NOT NULL,
  created_at    timestamptz NOT NULL DEFAULT statement_timestamp(),
  PRIMARY KEY (tenant_id, thread_id, generation),
  UNIQUE (tenant_id, compaction_id),
  FOREIGN KEY (tenant_id, thread_id) REFERENCES clew.threads ON DELETE CASCADE,
  CHECK (tokens_after < tokens_before)
);
GRANT SELECT, INSERT ON clew.compactions TO clew_app;

-- Compactions that were not committed, and why: the view stayed as it was. `at_position` is how long the thread was.
CREATE TABLE clew.compaction_refusals (
  tenant_id   text        NOT NULL,
  thread_id   text        NOT NULL,
  refusal_id  uuid        NOT NULL,
  generation  integer     NOT NULL,
  at_position bigint      NOT NULL,
  code        text        NOT NULL,
  reason      text        NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT statement_timestamp(),
  PRIMARY KEY (tenant_id, thread_id, refusal_id),
  FOREIGN KEY (tenant_id, thread_id) REFERENCES clew.threads ON DELETE CASCADE
);
GRANT SELECT, INSERT ON clew.compaction_refusals TO clew_app;
