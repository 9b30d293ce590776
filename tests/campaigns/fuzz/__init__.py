"""What reads foreign bytes, attacked with bytes that no one would write; ``python -m tests.campaigns.fuzz`` runs it."""
