"""A month of messages of three persons to the real daemon, with its clock moved from day to day."""
