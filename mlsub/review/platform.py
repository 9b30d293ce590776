"""Whether a log's ``submission_platform`` names the system of its description: by accelerator, then by word."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mlsub.systems.values import is_placeholder

#: Names come from whoever wrote the file.
_LONGEST = 200
#: How many of something a name begins with: ``1x``, ``8 x``, ``8x8x``.
_COUNT = re.compile(r"(?<![a-z0-9])(?:\d{1,6} ?[x×] ?(?=[a-z0-9]))+")
_TRADEMARK = re.compile(r"\((?:r|tm|c)\)|[®™©]")
_WORD = re.compile(r"[a-z]+\d*[a-z]*|\d+[a-z]+\d*")
#: Accelerators that a name may contain, by family: MI300X and MI300A are one, as are v5e and v5p.
_FAMILIES = re.compile(
    r"(?:(?<![a-z])|(?<=dgx)|(?<=hgx))"
    r"(?P<nvidia>g?[bh][123]00|[avp]100|[ah]800|h20|b30|l[24]0|a[134]0|a[2456]000)(?![0-9])"
    r"|(?<![a-z])(?P<geforce>rtx[-_ ]*(?:pro[-_ ]*)?\d{4})|(?<![a-z])(?P<radeon>rx[-_ ]*\d{4})"
    r"|(?<![a-z])(?P<instinct>mi[-_ ]?\d{3})(?![0-9])"
    r"|(?P<tpu>tpu[-_ ]*v\d|trillium|ironwood)(?![0-9])"
    r"|(?P<gaudi>gaudi[-_ ]*[23])(?![0-9])|(?P<ascend>ascend[-_ ]*\d{3})(?![0-9])|(?P<mtt>mtt[-_ ]*s\d{2,4})"
)
#: Other names of the same accelerator: a GB200 has B200s, and Trillium is the sixth TPU.
_SAME = {"gb200": "b200", "gb300": "b300", "trillium": "tpuv6", "ironwood": "tpuv7"}


def contradicts(said: str, names: Iterable[str]) -> str | None:
    """What is wrong with a platform beside the names of its system; None where nothing is.

    A platform that names an accelerator must name one of the system's, where the system names one. Any other has to
    have a word in common with one of the names, or contain it, or be contained in it.
    """
    if is_placeholder(said) or "placeholder" in said.lower():
        return "submission_platform is a placeholder"
    plain, known = _plain(said), [_plain(name) for name in names]
    named = _families(plain)
    expected = {family for name in known for family in _families(name)}
    if named and expected:
        return None if named & expected else "submission_platform names another accelerator than the system"
    if any(akin(plain, name) or _words(plain) & _words(name) for name in known):
        return None
    return "submission_platform has no word in common with the system's folder, name, accelerator or processor"


def akin(one: str, other: str) -> bool:
    """Whether one name contains the other, letters and digits only."""
    a, b = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in (one, other))
    return bool(a) and bool(b) and (a in b or b in a)


def _plain(name: str) -> str:
    return _COUNT.sub(" ", _TRADEMARK.sub("", name[:_LONGEST].lower())).strip()


def _families(plain: str) -> set[str]:
    found = (re.sub(r"[-_ ]|pro", "", match[0]) for match in _FAMILIES.finditer(plain))
    return {_SAME.get(name, name) for name in found}


def _words(plain: str) -> set[str]:
    """The words of a name that distinguish machines."""
    return {word for word in _WORD.findall(plain) if len(word) > 2}
