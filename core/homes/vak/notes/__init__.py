"""vak's notes: ``MEMORY.md`` of a workspace and ``USER.md``, which people edit by hand as well."""
