DROP TABLE clew.gate_refusals, clew.standing_instructions, clew.thread_reads;
ALTER TABLE clew.episodes DROP COLUMN user_id;
ALTER TABLE clew.threads DROP COLUMN user_id;
