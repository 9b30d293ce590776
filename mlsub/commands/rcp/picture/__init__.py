"""The picture of a benchmark's reference and of the runs that are held against it.

:mod:`curves` and :mod:`collect` make plain data, :mod:`draw` draws it (the only module that needs matplotlib),
:mod:`page` puts pictures and tables on one page.
"""
