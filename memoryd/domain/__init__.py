"""Rules of the application as pure functions, without files, clocks or randomness."""
