"""Documents and findings, and what they become: terminal text, Markdown, HTML, JSON, and what CI reads."""

#: ``json`` is the model of an answer in its envelope; each of the others is a module of this package.
FORMATS = ("text", "json", "markdown", "html")
#: What CI reads of a command that checks: each is a module of this package that renders :mod:`mlsub.present.ci`.
CI_FORMATS = ("sarif", "junit", "github", "gitlab")
