"""The rules as people look them up: tables, what changed between rounds, what to log, and the pages under docs/.

Computing stands apart from looks. :mod:`table`, :mod:`overview`, :mod:`diff`, :mod:`submission`, :mod:`keys` and
:mod:`history` make plain data; :mod:`document` and :mod:`document_diff` turn it into documents, and :mod:`pages` into
the pages under docs/.
"""
