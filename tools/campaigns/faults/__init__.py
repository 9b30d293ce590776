"""Commands that write, killed and refused at each step: what they leave is the old state or the new one.

``make campaigns PART=faults`` prints a table. A case (``cases``) says how a command is called and what it may leave;
``engine`` runs it in forks of a process, with a fault at a call that changes a file.
"""
