"""Fixtures that every suite shares: a clean environment, the starter model, and the real daemon as a child process."""
