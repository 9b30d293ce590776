"""The training code of the submission stands here."""
