-- Which machine this is to the others on a workspace, and the last line of its journal: another one there is not ours.
CREATE TABLE machine (
    workspace TEXT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    number INTEGER NOT NULL,            -- of the entry
    line BLOB NOT NULL                  -- its hash
) STRICT, WITHOUT ROWID;

-- What is forgotten, or remembered again, on all machines: hashes keyed with their secret.
CREATE TABLE machine_tombstones (
    workspace TEXT NOT NULL,
    hash BLOB NOT NULL,
    at REAL NOT NULL,                   -- seconds since 1970, UTC
    is_forgotten INTEGER NOT NULL,
    PRIMARY KEY (workspace, hash)
) STRICT, WITHOUT ROWID;

-- How many of the accesses other machines counted.
ALTER TABLE usage ADD COLUMN elsewhere INTEGER NOT NULL DEFAULT 0;
