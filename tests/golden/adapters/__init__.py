"""From today's answers to facts: one small function a command, the only code here that knows names in the answers.

Facts name their values themselves, so that a new shape of an answer changes a function here and no file in ``facts/``.
"""
