"""From loose runs to a submission: the manifest, the plan made of it, and the tree assembled by the plan."""
