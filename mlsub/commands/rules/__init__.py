"""The rules as people look them up: tables, what changed between rounds, what to log, and the pages under docs/.

Computing stands apart from rendering. :mod:`table`, :mod:`overview`, :mod:`diff`, :mod:`submission`, :mod:`keys` and
:mod:`history` make plain data; :mod:`render_text` and :mod:`render_markdown` turn it into text, :mod:`document` into
JSON, and :mod:`pages` into the pages under docs/.
"""
