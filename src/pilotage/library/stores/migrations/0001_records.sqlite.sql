-- Records, their revisions, names, source addresses and tags.
-- state: 0 public, 1 private, 2 public and withdrawn, 3 private and withdrawn.
PRAGMA application_id = 1346980935;

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE record (
    num INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    order_date TEXT NOT NULL,
    revision INTEGER NOT NULL,
    digest TEXT NOT NULL,
    stored_at TEXT NOT NULL
);

CREATE INDEX record_by_date ON record (order_date DESC, id, state);

CREATE INDEX record_withdrawn ON record (state) WHERE state >= 2;

CREATE TABLE revision (
    num INTEGER NOT NULL REFERENCES record (num),
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,
    stored_at TEXT NOT NULL,
    origin TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (num, number)
);

CREATE TABLE alias (
    alias TEXT PRIMARY KEY,
    num INTEGER NOT NULL REFERENCES record (num)
) WITHOUT ROWID;

CREATE INDEX alias_by_record ON alias (num);

CREATE TABLE address (
    num INTEGER NOT NULL REFERENCES record (num),
    key TEXT NOT NULL,
    url TEXT NOT NULL,
    PRIMARY KEY (num, key)
) WITHOUT ROWID;

CREATE INDEX address_by_key ON address (key);

CREATE TABLE term (
    term INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    facet TEXT NOT NULL,
    slug TEXT NOT NULL
);

CREATE TABLE tag (
    term INTEGER NOT NULL,
    num INTEGER NOT NULL,
    state INTEGER NOT NULL,
    PRIMARY KEY (term, num)
) WITHOUT ROWID;

CREATE INDEX tag_by_record ON tag (num, term);

-- How many records of each state bear a term, so that the facets of the whole library need no scan.
CREATE TABLE tally (
    term INTEGER NOT NULL,
    state INTEGER NOT NULL,
    records INTEGER NOT NULL,
    PRIMARY KEY (term, state)
) WITHOUT ROWID;
