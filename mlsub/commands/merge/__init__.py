"""Join packages of one organisation that teams have prepared apart."""
