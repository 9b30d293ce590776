"""Documents, and what they become: terminal text, Markdown, HTML, JSON."""

#: ``json`` is the model of an answer in its envelope; each of the others is a module of this package.
FORMATS = ("text", "json", "markdown", "html")
