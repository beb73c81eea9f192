"""What a team is on a PostgreSQL server: who is in it, and the files that they share, with rights row by row.

The policies ask who logged in (`session_user`), so that no setting and no SET ROLE makes anybody somebody else. Whose
login is in no team sees no row of any. It needs no extension, and every key begins with the team. On which channel a
team is told of news stands in its row, for its members alone.
"""

from typing import Final

SCHEMA: Final = "memoryd"
VERSION: Final = 1

TABLES: Final = """
CREATE SCHEMA IF NOT EXISTS memoryd;
CREATE TABLE IF NOT EXISTS memoryd.meta (version int PRIMARY KEY);
CREATE TABLE IF NOT EXISTS memoryd.teams (
    name text PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,31}$'),
    channel text NOT NULL DEFAULT 'memoryd_' || replace(gen_random_uuid()::text, '-', ''),
    generation bigint NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS memoryd.members (
    team text NOT NULL REFERENCES memoryd.teams (name) ON DELETE CASCADE,
    person text NOT NULL CHECK (person ~ '^[a-z0-9][a-z0-9_-]{0,31}$'),
    role text NOT NULL CHECK (role IN ('read', 'write', 'owner')),
    PRIMARY KEY (team, person)
);
CREATE TABLE IF NOT EXISTS memoryd.files (
    team text NOT NULL REFERENCES memoryd.teams (name) ON DELETE CASCADE,
    person text NOT NULL,
    path text NOT NULL CHECK (char_length(path) <= 240),
    digest bytea NOT NULL,
    body bytea NOT NULL CHECK (octet_length(body) <= 1048576),
    PRIMARY KEY (team, person, path),
    CHECK (digest = sha256(body))
);
CREATE OR REPLACE FUNCTION memoryd.my_role(asked text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = memoryd, pg_temp
AS 'SELECT role FROM memoryd.members WHERE team = asked AND person = session_user';
CREATE OR REPLACE FUNCTION memoryd.tell() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = memoryd, pg_temp AS $$
DECLARE told text;
BEGIN
    UPDATE memoryd.teams SET generation = generation + 1 WHERE name = coalesce(NEW.team, OLD.team)
    RETURNING channel INTO told;
    IF told IS NOT NULL THEN
        PERFORM pg_notify(told, '');
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS tell ON memoryd.files;
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON memoryd.files FOR EACH ROW EXECUTE FUNCTION memoryd.tell();
DROP TRIGGER IF EXISTS tell ON memoryd.members;
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON memoryd.members FOR EACH ROW EXECUTE FUNCTION memoryd.tell();
GRANT USAGE ON SCHEMA memoryd TO PUBLIC;
GRANT SELECT ON memoryd.meta, memoryd.teams TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON memoryd.members, memoryd.files TO PUBLIC;
ALTER TABLE memoryd.teams ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoryd.members ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoryd.files ENABLE ROW LEVEL SECURITY;
"""
"""One statement after the other; each may be run again."""
_OWN: Final = "person = session_user AND memoryd.my_role(team) IN ('write', 'owner')"
_OWNER: Final = "memoryd.my_role(team) = 'owner'"
POLICIES: Final = (
    ("teams", "told", "FOR SELECT USING (memoryd.my_role(name) IS NOT NULL)"),
    ("members", "told", "FOR SELECT USING (memoryd.my_role(team) IS NOT NULL)"),
    ("members", "taken_in", f"FOR INSERT WITH CHECK ({_OWNER})"),
    ("members", "changed", f"FOR UPDATE USING ({_OWNER})"),
    ("members", "taken_out", f"FOR DELETE USING ({_OWNER})"),
    ("files", "told", "FOR SELECT USING (memoryd.my_role(team) IS NOT NULL)"),
    ("files", "shared", f"FOR INSERT WITH CHECK ({_OWN})"),
    ("files", "changed", f"FOR UPDATE USING ({_OWN})"),
    ("files", "removed", f"FOR DELETE USING (({_OWN}) OR {_OWNER})"),
)
"""Table, name and what it says. What is changed must be one's own afterwards, too: USING holds for both."""
