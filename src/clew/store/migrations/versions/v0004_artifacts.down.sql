DROP TRIGGER release_artifacts ON clew.threads;
DROP TRIGGER note_artifact_uses ON clew.messages;
DROP TABLE clew.compaction_refusals, clew.compactions, clew.tool_results, clew.artifact_uses, clew.artifacts, clew.blobs;
DROP FUNCTION clew.release_artifacts, clew.note_artifact_uses;
ALTER TABLE clew.messages DROP COLUMN pinned;
