"""When a run converged, and the reference that it is compared with."""
