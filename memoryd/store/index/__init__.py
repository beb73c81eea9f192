"""The index: what can be made anew from the workspace, table by table."""
