-- The same checks in words that cost nothing. For `IN` with more than two values SQLite makes a table for each statement, in memory and
-- anew each time: 8 % of the instructions of a new session.
-- How a check is changed where the rows stay as they are: https://sqlite.org/lang_altertable.html#making_other_kinds_of_table_schema_changes
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

-- Tells other connections that the schema is another one.
CREATE VIEW changed AS SELECT 1;
DROP VIEW changed;
