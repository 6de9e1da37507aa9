DROP TABLE clew.journal;
