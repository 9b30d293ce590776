"""How answers look: text, Markdown, HTML, JSON."""
