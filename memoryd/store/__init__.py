"""All that knows SQLite: connections, migrations, and the tables below index/ and ledger/."""
