"""The ledger: what the files cannot say, table by table; migrated, never dropped."""
