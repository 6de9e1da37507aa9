DROP TABLE clew.gate_refusals, clew.standing_instructions;
ALTER TABLE clew.episodes DROP COLUMN user_id;
ALTER TABLE clew.threads DROP COLUMN user_id, DROP COLUMN read_through;
