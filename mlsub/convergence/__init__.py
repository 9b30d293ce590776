"""When a run converged, and against what that is held."""
