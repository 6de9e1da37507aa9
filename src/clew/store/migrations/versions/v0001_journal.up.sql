-- What happened in a tenant. Entries are added and read; nobody changes one.
CREATE TABLE clew.journal (
  tenant_id  text        NOT NULL CHECK (tenant_id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  entry_id   uuid        NOT NULL,
  kind       text        NOT NULL CHECK (kind <> ''),
  detail     jsonb       NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, entry_id)
);
GRANT SELECT, INSERT ON clew.journal TO clew_app;
