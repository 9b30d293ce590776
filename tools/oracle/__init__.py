"""Changed logs and packages, and the official tools to ask about them."""
