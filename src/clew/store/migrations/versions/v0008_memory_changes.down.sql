DROP TRIGGER log_memories_forgotten ON clew.memories;
DROP TRIGGER log_memories_changed ON clew.memories;
DROP TRIGGER log_memories_added ON clew.memories;
DROP TABLE clew.memory_changes;
DROP FUNCTION clew.log_memories_forgotten, clew.log_memories_changed, clew.log_memories_added;
REVOKE DELETE ON clew.journal, clew.memory_totals FROM clew_app;
