-- As in 0002; a new session without fields and events is inserted as it is, without an update.
CREATE OR REPLACE FUNCTION save_session(
  p_id text, p_create boolean, p_if_version bigint, p_title text, p_fields json, p_state text,
  p_events text[], p_notices text[], p_is_activity boolean, p_at bigint
) RETURNS json
LANGUAGE plpgsql AS $$
DECLARE
  s sessions;
  changed sessions;
  live boolean;
  moved boolean;
  -- A new session is then one insert.
  is_plain boolean := p_fields::text = '{}' AND p_state IS NULL AND cardinality(p_events) = 0;
BEGIN
  LOOP
    SELECT * INTO s FROM sessions WHERE id = p_id FOR UPDATE;
    live := FOUND AND s.deleted_at IS NULL;
    IF NOT live AND NOT p_create THEN
      RETURN json_build_object('kind', 'missing');
    END IF;
    IF p_if_version <> (CASE WHEN live THEN s.version ELSE 0 END) THEN
      RETURN json_build_object('kind', 'stale');
    END IF;
    EXIT WHEN live;
    IF s.ref IS NULL AND is_plain THEN
      INSERT INTO sessions (id, title, title_source, created_at, active_at, revision, version)
      VALUES (p_id, p_title, 'placeholder', p_at, p_at, 1, 1)
      ON CONFLICT (id) DO NOTHING
      RETURNING * INTO s;
      IF FOUND THEN
        RETURN json_build_object('kind', 'saved', 'created', true, 'session', row_to_json(s));
      END IF;
      CONTINUE;
    END IF;
    SELECT * INTO s FROM make_session(p_id, p_title, p_at);
    -- Not found: a concurrent transaction has just created it.
    EXIT WHEN FOUND;
  END LOOP;
  changed := with_fields(s, p_fields, p_state);
  IF NOT live THEN
    changed.version := s.version + 1;
  END IF;
  moved := p_is_activity AND p_at > s.active_at;
  IF moved THEN
    changed.active_at := p_at;
  END IF;
  IF moved OR changed.version > s.version OR cardinality(p_events) > 0 THEN
    changed := commit_session(changed, p_events, p_notices, p_at);
  END IF;
  RETURN json_build_object('kind', 'saved', 'created', NOT live, 'session', row_to_json(changed));
END
$$;
