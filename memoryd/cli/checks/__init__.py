"""The checks of `memoryctl doctor`, a module for each subject; nothing else imports them."""
