-- Counts requests of the field surface as well.
ALTER TABLE usage DROP CONSTRAINT usage_surface_check;
ALTER TABLE usage ADD CONSTRAINT usage_surface_check CHECK (surface IN ('current', 'legacy', 'field'));
