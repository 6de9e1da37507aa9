-- A conversation: how long it is, and the row that its writers queue for.
CREATE TABLE clew.threads (
  tenant_id     text        NOT NULL CHECK (tenant_id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  thread_id     text        NOT NULL CHECK (thread_id <> ''),
  message_count bigint      NOT NULL DEFAULT 0 CHECK (message_count >= 0),
  token_count   bigint      NOT NULL DEFAULT 0 CHECK (token_count >= 0),
  created_at    timestamptz NOT NULL DEFAULT statement_timestamp(),
  updated_at    timestamptz NOT NULL DEFAULT statement_timestamp(),
  PRIMARY KEY (tenant_id, thread_id)
);
CREATE INDEX threads_by_activity ON clew.threads (tenant_id, updated_at DESC, thread_id);
GRANT SELECT, INSERT, DELETE, UPDATE (message_count, token_count, updated_at) ON clew.threads TO clew_app;

-- What was said, never rewritten: the application may add and read, and rows go only with their whole thread.
-- `message` is json and not jsonb, which would forget the order of keys; `words` is its text, folded for searching.
CREATE TABLE clew.messages (
  tenant_id  text        NOT NULL,
  thread_id  text        NOT NULL,
  position   bigint      NOT NULL CHECK (position >= 1),
  message_id uuid        NOT NULL,
  tokens     integer     NOT NULL CHECK (tokens >= 0),
  words      text        NOT NULL,
  message    json        NOT NULL,
  created_at timestamptz NOT NULL DEFAULT statement_timestamp(),
  PRIMARY KEY (tenant_id, thread_id, position),
  UNIQUE (tenant_id, message_id),
  FOREIGN KEY (tenant_id, thread_id) REFERENCES clew.threads ON DELETE CASCADE
);
GRANT SELECT, INSERT ON clew.messages TO clew_app;

-- Which append a key stands for. The thread may come later in the same transaction: a retry that waits for the first
-- attempt should wait here, holding nothing.
CREATE TABLE clew.appends (
  tenant_id       text        NOT NULL,
  thread_id       text        NOT NULL,
  idempotency_key text        NOT NULL CHECK (idempotency_key <> ''),
  digest          bytea       NOT NULL,
  message_ids     uuid[]      NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT statement_timestamp(),
  PRIMARY KEY (tenant_id, thread_id, idempotency_key),
  FOREIGN KEY (tenant_id, thread_id) REFERENCES clew.threads ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
);
GRANT SELECT, INSERT ON clew.appends TO clew_app;

-- LangGraph's tables, as langgraph-checkpoint-postgres 3.2 makes them, and two things more: a thread id begins with its
-- tenant, and is ordered by bytes, so that one tenant's rows are one range of the index.
CREATE TABLE clew_lg_00.checkpoint_migrations (v integer PRIMARY KEY);
INSERT INTO clew_lg_00.checkpoint_migrations SELECT generate_series(0, 9);
GRANT SELECT ON clew_lg_00.checkpoint_migrations TO clew_app;

CREATE TABLE clew_lg_00.checkpoints (
  thread_id            text COLLATE "C" NOT NULL CHECK (thread_id ~ '^[A-Za-z0-9._:-]{1,128}/'),
  checkpoint_ns        text  NOT NULL DEFAULT '',
  checkpoint_id        text  NOT NULL,
  parent_checkpoint_id text,
  type                 text,
  checkpoint           jsonb NOT NULL,
  metadata             jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);
CREATE INDEX checkpoints_thread_id_idx ON clew_lg_00.checkpoints (thread_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON clew_lg_00.checkpoints TO clew_app;

CREATE TABLE clew_lg_00.checkpoint_blobs (
  thread_id     text COLLATE "C" NOT NULL CHECK (thread_id ~ '^[A-Za-z0-9._:-]{1,128}/'),
  checkpoint_ns text NOT NULL DEFAULT '',
  channel       text NOT NULL,
  version       text NOT NULL,
  type          text NOT NULL,
  blob          bytea,
  PRIMARY KEY (thread_id, checkpoint_ns, channel, version)
);
CREATE INDEX checkpoint_blobs_thread_id_idx ON clew_lg_00.checkpoint_blobs (thread_id);
GRANT SELECT, INSERT, DELETE ON clew_lg_00.checkpoint_blobs TO clew_app;

CREATE TABLE clew_lg_00.checkpoint_writes (
  thread_id     text COLLATE "C" NOT NULL CHECK (thread_id ~ '^[A-Za-z0-9._:-]{1,128}/'),
  checkpoint_ns text    NOT NULL DEFAULT '',
  checkpoint_id text    NOT NULL,
  task_id       text    NOT NULL,
  idx           integer NOT NULL,
  channel       text    NOT NULL,
  type          text,
  blob          bytea   NOT NULL,
  task_path     text    NOT NULL DEFAULT '',
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
CREATE INDEX checkpoint_writes_thread_id_idx ON clew_lg_00.checkpoint_writes (thread_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON clew_lg_00.checkpoint_writes TO clew_app;
