"""The rules as people look them up: tables, what changed between rounds, what to log, and the pages under build/docs.

Computing stands apart from looks. :mod:`table`, :mod:`overview`, :mod:`keys`, :mod:`diff` and :mod:`submission` make
plain data; :mod:`document` and :mod:`document_diff` turn it into documents, and :mod:`pages` makes the reference pages
of the same parts.
"""
