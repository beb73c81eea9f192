"""What a team is on a PostgreSQL server: a table of files, roles of those who read and write, and who may what by them.

Who may what is GRANT and nothing of ours: a role for readers and one for writers of each team, and the policies ask
for the login itself, so that no setting and no SET ROLE makes anybody somebody else. It needs no extension. Every key
begins with the team.
"""

from typing import Final

SCHEMA: Final = "memoryd"
READERS: Final = "memoryd_read_{}"
WRITERS: Final = "memoryd_write_{}"
VERSION: Final = 1
CHANNEL: Final = "memoryd_{}"
"""On which news of a team are told."""

TABLES: Final = """
CREATE SCHEMA IF NOT EXISTS memoryd;
CREATE TABLE IF NOT EXISTS memoryd.meta (version int PRIMARY KEY);
CREATE TABLE IF NOT EXISTS memoryd.teams (name text PRIMARY KEY CHECK (name ~ '^[a-z0-9][a-z0-9_-]{0,31}$'));
CREATE TABLE IF NOT EXISTS memoryd.files (
    team text NOT NULL REFERENCES memoryd.teams (name) ON DELETE CASCADE,
    person text NOT NULL CHECK (person ~ '^[a-z0-9][a-z0-9_-]{0,31}$'),
    path text NOT NULL CHECK (char_length(path) <= 240),
    digest bytea NOT NULL CHECK (octet_length(digest) = 32),
    body bytea NOT NULL CHECK (octet_length(body) <= 1048576),
    PRIMARY KEY (team, person, path)
);
ALTER TABLE memoryd.teams ENABLE ROW LEVEL SECURITY;
ALTER TABLE memoryd.files ENABLE ROW LEVEL SECURITY;
"""
"""One statement after the other; each may be run again."""
POLICIES: Final = (
    (
        "teams",
        "told",
        "FOR SELECT USING (pg_has_role(session_user, 'memoryd_read_' || name, 'MEMBER'))",
    ),
    (
        "files",
        "read",
        "FOR SELECT USING (pg_has_role(session_user, 'memoryd_read_' || team, 'MEMBER'))",
    ),
    *(
        (
            "files",
            name,
            f"FOR {command} {clause} (person = session_user"
            " AND pg_has_role(session_user, 'memoryd_write_' || team, 'MEMBER'))",
        )
        for name, command, clause in (
            ("insert", "INSERT", "WITH CHECK"),
            ("change", "UPDATE", "USING"),
            ("remove", "DELETE", "USING"),
        )
    ),
)
"""Table, name and what it says. A row is changed only into one that its owner may have, too: USING holds for both."""
NEWS: Final = """
CREATE OR REPLACE FUNCTION memoryd.tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_notify('memoryd_' || coalesce(NEW.team, OLD.team), '');
    RETURN NULL;
END $$;
DROP TRIGGER IF EXISTS tell ON memoryd.files;
CREATE TRIGGER tell AFTER INSERT OR UPDATE OR DELETE ON memoryd.files FOR EACH ROW EXECUTE FUNCTION memoryd.tell();
"""
GRANTS: Final = """
GRANT USAGE ON SCHEMA memoryd TO {role};
GRANT SELECT ON memoryd.meta, memoryd.teams, memoryd.files TO {role};
"""
WRITES: Final = "GRANT INSERT, UPDATE, DELETE ON memoryd.files TO {role}"
MEMBERS: Final = """
SELECT m.rolname FROM pg_auth_members a JOIN pg_roles r ON r.oid = a.roleid JOIN pg_roles m ON m.oid = a.member
WHERE r.rolname = %s AND m.rolcanlogin ORDER BY m.rolname
"""
