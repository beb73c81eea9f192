-- The words of the chunks of an index. What changes here or in what is written here needs a new INDEX_VERSION; an older
-- index has these tables made anew from its chunks.

-- The languages beside English in which some chunk has stems; one may stay that none has any more.
CREATE TABLE languages (code TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

CREATE VIRTUAL TABLE chunk_words USING fts5 (
    body, heading, path, parts, stems,
    content='', contentless_delete=1, tokenize="porter unicode61 remove_diacritics 2 categories 'L* N* Co M*'"
);
-- Words that are deleted leave the file, too.
INSERT INTO chunk_words(chunk_words, rank) VALUES ('secure-delete', 1);
