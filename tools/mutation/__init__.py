"""The mutation gate: small changes to the source, each of which some test must notice.

``python -m tools.mutation`` (``make mutants``) chooses mutants by a seed and writes one copy of the repository that
holds all of them, each behind a switch. It runs the tests once to see which test runs which mutant, and then tries each
mutant with the tests that run it, cheapest first.
"""
