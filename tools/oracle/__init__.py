"""Changed logs, entries and packages, and the official tools to ask about them.

Logs (generate, log) are changed by two generators: at random by a seed (random_changes, random_text), and aimed at each
demand or the border of one (aimed, with its tables in aimed_demands, aimed_borders). Both give a ChangedLog,
which ``compare`` asks both sides about. Entries, scores and packages are drawn by a seed in modules of their own.
"""
