-- The search index. Private records have their own, so that nothing the public is told rests on them.
CREATE TABLE public_index (
    num BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    said TEXT NOT NULL,
    tags TEXT NOT NULL,
    body TEXT NOT NULL,
    tokens BIGINT NOT NULL,
    words TSVECTOR NOT NULL
);

CREATE INDEX public_index_words ON public_index USING gin (words);

CREATE TABLE private_index (
    num BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    said TEXT NOT NULL,
    tags TEXT NOT NULL,
    body TEXT NOT NULL,
    tokens BIGINT NOT NULL,
    words TSVECTOR NOT NULL
);

CREATE INDEX private_index_words ON private_index USING gin (words);

-- Records and index tokens by state: the size of the collection that BM25 needs.
CREATE TABLE total (
    state SMALLINT PRIMARY KEY,
    records BIGINT NOT NULL,
    tokens BIGINT NOT NULL
);
