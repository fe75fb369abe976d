"""signoff's own advice on what would land: words a careful person looks at. Refuses nothing."""
