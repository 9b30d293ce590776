"""The data of charts as JSON: by column, with the digits that a chart and its tooltips show, and once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from mlsub.commands.site.model import Drawn, Live, Runs
from mlsub.io.data import blake2b
from mlsub.present.chart import Series
from mlsub.score.columns import encodable

#: Where series lie that several pages have.
SHARED = "shared"
#: Characters that could end the script which the data stand in.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def chart_json(chart: Drawn | Live) -> str:
    """The data of a chart as JSON that no parser of HTML takes for the end of the script it stands in."""
    if isinstance(chart, Live):
        return safe_json(chart.data)
    own = chart.series[chart.shared :]
    found: dict[str, Any] = {"x": chart.x, "y": chart.y}
    if chart.categories:
        found["categories"] = chart.categories
    if chart.shared:
        found["shared"] = shared_series(chart.series[: chart.shared])[0]
    listed = [series for series in own if series.style == chart.listed]
    if listed:
        found["table"] = {"id": f"table-{chart.table}", "x": chart.across, "y": chart.up, "name": listed[0].name}
        found["table"] |= {"style": chart.listed, "colours": [series.colour for series in listed]}
    found["series"] = [_series(series) for series in own if series not in listed]
    if isinstance(chart, Runs):
        found |= {"goal": chart.goal, "window": chart.window}
        if chart.spread:
            found["band"] = chart.band
            found["spread"] = _columns([msgspec.structs.astuple(one) for one in chart.spread])
    return safe_json(found)


@lru_cache(maxsize=64)
def shared_series(series: tuple[Series, ...]) -> tuple[str, bytes]:
    """Series that charts of several pages have: their name, and a script with them, since a file may load no data."""
    text = safe_json(list(map(_series, series)))
    name = blake2b(text.encode(), digest_size=8).hexdigest()
    return name, f'"use strict";\n(window.mlsubShared ??= {{}})["{name}"] = {text};\n'.encode()


def _series(series: Series) -> dict[str, Any]:
    return {
        "name": series.name,
        "style": series.style,
        "colour": series.colour,
        "points": _columns(series.points),
    }


def _columns(rows: Sequence[Sequence[float]]) -> msgspec.Raw:
    columns = ",".join(f"[{','.join(map(_number, column))}]" for column in zip(*rows, strict=True))
    return msgspec.Raw(f"[{columns}]".encode())


def _number(value: float) -> str:
    """Six digits, as tooltips have them."""
    text = f"{value:.6g}"
    return text if text[-1].isdigit() else "null"


def safe_json(found: object) -> str:
    """JSON for a script: nothing in it ends the script or begins markup."""
    try:
        text = msgspec.json.encode(found).decode("utf-8")
    except UnicodeEncodeError:  # Of a name of a folder that is not UTF-8.
        text = msgspec.json.encode(_encodable(found)).decode("utf-8")
    for unsafe, escaped in _UNSAFE.items():
        text = text.replace(unsafe, escaped)
    return text


def _encodable(found: Any) -> Any:
    """The same values, whose texts UTF-8 can hold."""
    if isinstance(found, str):
        return encodable(found)
    if isinstance(found, dict):
        return {_encodable(key): _encodable(value) for key, value in found.items()}
    if isinstance(found, msgspec.Struct):
        return msgspec.structs.replace(found, **_encodable(msgspec.structs.asdict(found)))
    return [_encodable(one) for one in found] if isinstance(found, list | tuple) else found
