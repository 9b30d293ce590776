"""Run forensics: what a careful reviewer would ask of runs, with the numbers that show it. Never part of a verdict."""
