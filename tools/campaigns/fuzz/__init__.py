"""What reads foreign bytes, attacked with bytes that no one would write; ``python -m tools.campaigns.fuzz`` runs it."""
