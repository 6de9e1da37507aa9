ALTER TABLE clew.fact_changes DROP COLUMN written_in;
ALTER TABLE clew.memory_changes DROP COLUMN written_in;
