"""Trainings with real frameworks. Networks as small as these are slower on several threads than on one."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
