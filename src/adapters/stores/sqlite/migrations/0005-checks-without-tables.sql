-- Rewrites checks to an equivalent form that is faster: for `IN` with more than two values, SQLite builds an in-memory
-- table at each execution of a statement. The rows stay valid, so only the schema text is edited, see
-- https://sqlite.org/lang_altertable.html#making_other_kinds_of_table_schema_changes
PRAGMA writable_schema = ON;

UPDATE sqlite_schema
SET sql = replace(
  sql,
  'title_source IN (''placeholder'', ''automatic'', ''person'')',
  'title_source IN (''placeholder'', ''automatic'') OR title_source = ''person'''
)
WHERE type = 'table' AND name = 'sessions';

UPDATE sqlite_schema
SET sql = replace(
  sql,
  'status IN (''queued'', ''running'', ''complete'', ''interrupted'', ''failed'')',
  'status IN (''queued'', ''running'') OR status IN (''complete'', ''interrupted'') OR status = ''failed'''
)
WHERE type = 'table' AND name = 'turns';

UPDATE sqlite_schema
SET sql = replace(
  sql,
  'role IN (''user'', ''assistant'', ''system'')',
  'role IN (''user'', ''assistant'') OR role = ''system'''
)
WHERE type = 'table' AND name = 'messages';

PRAGMA writable_schema = RESET;

-- Changes the schema version, so that other connections reload the schema.
CREATE VIEW changed AS SELECT 1;
DROP VIEW changed;
