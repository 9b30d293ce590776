"""The picture of a benchmark's reference and of the runs beside it.

:mod:`curves` and :mod:`collect` gather plain data, :mod:`chart` makes the chart of it (for the results page as well),
:mod:`draw` draws that (the only module that needs matplotlib).
"""
