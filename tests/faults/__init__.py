"""Faults while mlsub writes: kills, full and broken disks, power cuts, two processes at once, files that vanish.

``python -m tests.faults`` prints the table; ``make campaigns`` runs it. A case (:mod:`tests.faults.cases`) says how a
command is called and what it may leave, :mod:`tests.faults.layer` brings the faults about, and
:mod:`tests.faults.power` replays what a disk may hold after a power cut.
"""
