"""What no note says goes elsewhere: backup and restore, and a workspace that moves. Works on files that lie still."""
