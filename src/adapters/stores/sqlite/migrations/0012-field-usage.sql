-- Counts requests of the field surface as well. The rows stay valid, so only the schema text is edited, see 0005.
PRAGMA writable_schema = ON;

UPDATE sqlite_schema
SET sql = replace(
  sql,
  'surface IN (''current'', ''legacy'')',
  'surface IN (''current'', ''legacy'') OR surface = ''field'''
)
WHERE type = 'table' AND name = 'usage';

PRAGMA writable_schema = RESET;

-- Changes the schema version, so that other connections reload the schema.
CREATE VIEW changed AS SELECT 1;
DROP VIEW changed;
