"""What a team repeats: settings from files and the environment, waivers, and the baseline."""
