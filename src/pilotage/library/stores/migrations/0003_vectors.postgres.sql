-- Vectors of passages; position keeps their order within a record.
CREATE TABLE vector (
    model TEXT NOT NULL,
    num BIGINT NOT NULL REFERENCES record (num),
    position INTEGER NOT NULL,
    part TEXT NOT NULL,
    lang TEXT NOT NULL,
    data BYTEA NOT NULL,
    PRIMARY KEY (model, num, position)
);
