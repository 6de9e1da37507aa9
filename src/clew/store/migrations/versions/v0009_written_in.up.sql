-- The transaction that made a change, so that "since then" means what nobody had seen, whoever commits when.
ALTER TABLE clew.memory_changes ADD COLUMN written_in xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX memory_changes_written ON clew.memory_changes (tenant_id, written_in);
ALTER TABLE clew.fact_changes ADD COLUMN written_in xid8 NOT NULL DEFAULT pg_current_xact_id();
CREATE INDEX fact_changes_written ON clew.fact_changes (tenant_id, written_in);
