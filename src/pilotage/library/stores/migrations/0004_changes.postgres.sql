-- The delta feed walks by time of change.
CREATE INDEX record_by_change ON record (stored_at, id);
