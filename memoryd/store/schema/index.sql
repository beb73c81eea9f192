-- The derived index of one workspace. A cache of the files: it can be dropped at any time and is rebuilt.
-- A change here means a new INDEX_VERSION; an older file is set aside and the index is built anew, but for the last one.

CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,          -- relative to the workspace
    source TEXT NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    read_at_ns INTEGER NOT NULL,
    sha256 BLOB NOT NULL,
    lines INTEGER NOT NULL,
    chunks INTEGER NOT NULL,            -- how many there are, to find loss
    memories INTEGER NOT NULL,          -- how many of them state a memory, to find loss
    chunker TEXT NOT NULL,              -- version and parameters that cut it
    flags TEXT NOT NULL DEFAULT ''      -- how the bytes were decoded, when not plainly
) STRICT;

CREATE INDEX files_with_memories ON files (id) WHERE memories > 0;

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL REFERENCES files ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    start_line INTEGER NOT NULL,        -- 1-based, inclusive
    end_line INTEGER NOT NULL,
    heading TEXT NOT NULL,              -- titles of the enclosing headings
    text TEXT NOT NULL,                 -- an exact slice of the file
    hash BLOB NOT NULL                  -- of heading and text
) STRICT;
CREATE INDEX chunks_by_file ON chunks (file_id, ordinal);

-- The chunks that are retained lines, each with the id of the memory that it states.
CREATE TABLE memory_chunks (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    memory TEXT NOT NULL
) STRICT;
CREATE INDEX memory_chunks_by_memory ON memory_chunks (memory);

-- The chunks that stand under a scope without being retained lines: they are told to nobody whom it does not reach.
CREATE TABLE scoped_chunks (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks ON DELETE CASCADE,
    scope TEXT NOT NULL
) STRICT;

-- The pages of entities: how each is named by its page, and by what other names a person calls it.
CREATE TABLE entity_pages (
    file_id INTEGER PRIMARY KEY REFERENCES files ON DELETE CASCADE,
    name TEXT NOT NULL,
    aliases TEXT NOT NULL               -- JSON array
) STRICT;

CREATE TABLE passages (
    id INTEGER PRIMARY KEY,
    chunk_id INTEGER NOT NULL REFERENCES chunks ON DELETE CASCADE,
    start INTEGER NOT NULL,             -- characters from the start of the chunk's text
    stop INTEGER NOT NULL,              -- 0: the passage is the file itself, a picture or sound
    hash BLOB NOT NULL                  -- of title and text: names the vector in every space
) STRICT;
CREATE INDEX passages_by_chunk ON passages (chunk_id);
-- Their index by hash is made when somebody wants vectors.

-- One row for each set of mutually comparable vectors (model, prompts, dimensions …).
CREATE TABLE spaces (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    dimensions INTEGER NOT NULL,
    created_at REAL NOT NULL            -- when it was last opened: of a provider's, the latest is in use
) STRICT;

CREATE TABLE vectors (
    id INTEGER PRIMARY KEY,
    space_id INTEGER NOT NULL REFERENCES spaces ON DELETE CASCADE,
    hash BLOB NOT NULL,
    vector BLOB NOT NULL,               -- of length 1, packed by domain/vector.py
    language TEXT NOT NULL,             -- of the text, as domain/text/languages.py has it; empty if unknown
    used_at REAL NOT NULL,              -- when it was made, or a passage that used it went
    UNIQUE (space_id, hash)
) STRICT;

-- Passages that a model gives no vector for; tried again only on request.
CREATE TABLE rejected (
    space_id INTEGER NOT NULL REFERENCES spaces ON DELETE CASCADE,
    hash BLOB NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (space_id, hash)
) STRICT, WITHOUT ROWID;

-- How far each conversation was read, and the part of it that grows. Its parts are files: `path@first line`.
CREATE TABLE conversations (
    path TEXT PRIMARY KEY,              -- what it is told as: session:ID, sessions/AGENT/FILE
    stamp TEXT NOT NULL,                -- the state of its source that was read; empty: there was more to read
    tail TEXT NOT NULL,                 -- where its source goes on, in the source's own words
    chunker TEXT NOT NULL,              -- version and parameters that cut it
    problem TEXT NOT NULL,              -- why nothing of it is read; empty if it is
    first_line INTEGER,                 -- of the part that grows; null: nothing was said yet
    text TEXT NOT NULL,
    spoken INTEGER NOT NULL,
    last_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
