DROP TABLE clew_lg_00.checkpoint_writes, clew_lg_00.checkpoint_blobs, clew_lg_00.checkpoints, clew_lg_00.checkpoint_migrations;
DROP TABLE clew.appends, clew.messages, clew.threads;
