DROP TABLE clew.memory_vectors, clew.memory_spaces, clew.memory_totals, clew.memory_terms, clew.memories;
