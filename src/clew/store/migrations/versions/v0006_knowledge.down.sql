DROP TABLE clew.fact_changes, clew.entity_aliases, clew.fact_vectors, clew.fact_totals, clew.fact_terms,
  clew.fact_sources, clew.fact_beliefs, clew.facts, clew.episodes;
