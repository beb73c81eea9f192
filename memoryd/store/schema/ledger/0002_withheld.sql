-- Conversations that are not to be remembered, and those that are just being forgotten. Nothing of what was said.
CREATE TABLE withheld (
    id INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    kind TEXT NOT NULL,                 -- transcript, key, or pending: goes when the conversation is forgotten
    name TEXT NOT NULL,                 -- path of a conversation, keyed hash of a session key
    is_forgotten INTEGER NOT NULL,      -- 0: marked only
    head_bytes INTEGER NOT NULL,        -- so many bytes at the beginning of the transcript have this keyed hash; 0: none
    head_hash BLOB NOT NULL,
    since REAL NOT NULL,                -- seconds since 1970, UTC
    UNIQUE (agent, kind, name)
) STRICT;

-- What the hashes are keyed with: without this file they tell nothing.
CREATE TABLE hash_key (id INTEGER PRIMARY KEY CHECK (id = 1), bytes BLOB NOT NULL) STRICT;
INSERT INTO hash_key VALUES (1, randomblob(32));
