-- The search index. Private records have their own, so that nothing the public is told rests on them.
CREATE VIRTUAL TABLE public_index USING fts5(name, said, tags, body, tokenize = "unicode61 remove_diacritics 0");

CREATE VIRTUAL TABLE private_index USING fts5(name, said, tags, body, tokenize = "unicode61 remove_diacritics 0");

CREATE VIRTUAL TABLE public_words USING fts5vocab(public_index, row);

-- Records and index tokens by state: the size of the collection that BM25 needs.
CREATE TABLE total (
    state INTEGER PRIMARY KEY,
    records INTEGER NOT NULL,
    tokens INTEGER NOT NULL
);
