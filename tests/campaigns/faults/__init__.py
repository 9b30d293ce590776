"""Commands that write, each under faults: kills, errors of the system, power cuts, two processes, files that vanish.

``make campaigns PART=faults`` prints the table. A case (``cases``) says how a command is called and what it may leave,
``layer`` brings the faults about, and ``power`` replays what a disk may hold after a power cut.
"""
