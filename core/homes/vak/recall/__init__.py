"""What vak's own tool ``session_search`` answers, hit for hit: the classic scorer and bm25."""
