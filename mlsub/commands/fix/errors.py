"""Why a file is left as it is."""

from __future__ import annotations
