"""The page at which a person looks at the memory, served on the loopback port to who came by a one-time link.

`pages.py` says what a page is, and `site.py` has the table of all: routes and navigation are made of it. A page's
module (`memories.py`, `entities.py`, …) has its handlers and ends with its rows; a handler asks the calls of the API,
whose reply is the page's JSON twin, and returns a `View` of a template in `templates/`. `door.py` lets in,
`session.py` knows who is in, and `rendering.py` has templates and the text of notes, and is imported when the first
page is asked for.
"""
