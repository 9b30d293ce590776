"""Why two entries take different times: how far their runs train, in which phases, and what that adds up to."""
