"""The commands, one room each, named as the command."""
