-- What was delivered of a workspace's memories to each session: keyed hashes, so that an echo of it is not learned.
CREATE TABLE delivered_spans (
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,              -- keyed hash of the session key
    whole BLOB NOT NULL,                -- hash of the span
    words BLOB NOT NULL,                -- of each of its words, 8 bytes each
    runs BLOB NOT NULL,                 -- of each three words in a row
    is_negated INTEGER NOT NULL,
    at REAL NOT NULL,                   -- seconds since 1970, UTC
    PRIMARY KEY (workspace, agent, session, whole)
) STRICT, WITHOUT ROWID;
CREATE INDEX delivered_spans_by_time ON delivered_spans (workspace, at);

-- What the hashes of a workspace are keyed with.
CREATE TABLE delivered_key (
    workspace TEXT NOT NULL PRIMARY KEY,
    key BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Messages of which memories are still to be made: where each stands in the files of its session, and no word of it.
CREATE TABLE awaited_messages (
    workspace TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    scope TEXT NOT NULL,                -- whom its memories are for
    channel TEXT,
    is_direct INTEGER NOT NULL,
    is_owners INTEGER NOT NULL,         -- 1: it came by the owner's own socket
    tries INTEGER NOT NULL,             -- how often it was put in line again
    at REAL NOT NULL,                   -- seconds since 1970, UTC
    PRIMARY KEY (workspace, agent, session, seq)
) STRICT, WITHOUT ROWID;

-- What was stated in a workspace, as keyed hashes: what does not stand any more was taken back.
CREATE TABLE stated_lines (
    workspace TEXT NOT NULL,
    hash BLOB NOT NULL,
    at REAL NOT NULL,                   -- seconds since 1970, UTC
    PRIMARY KEY (workspace, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX stated_lines_by_time ON stated_lines (workspace, at);
