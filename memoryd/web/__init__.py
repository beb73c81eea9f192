"""The web page that shows the memory to its owner, served on the loopback port to a browser with a one-time link.

`pages.py` defines a page, and `site.py` has the table of all pages, from which routes and navigation are made. The
module of a page (`memories.py`, `entities.py`, …) has its handlers, and at the end its rows of the table. A handler
uses the calls of the API and returns a `View`: the values of a template in `templates/`. `door.py` checks each request,
`session.py` has the sessions, and `rendering.py` has the templates and renders notes; it is imported at the first
request for a page.
"""
