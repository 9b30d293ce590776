"""Tables of Arrow as bytes: an IPC stream, or a Parquet file. Answers that are either of them are made here."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from mlsub.io import MlsubError

if TYPE_CHECKING:
    import pyarrow as pa

FORMATS = ("arrow", "parquet")


def render(table: pa.Table, format_: str) -> bytes:
    """A table in a format.

    Raises:
        ImportError: pyarrow is not installed.
        MlsubError: a column has values that the format cannot hold.
    """
    import pyarrow as pa

    sink = io.BytesIO()
    try:
        table.validate(full=True)
        if format_ == "arrow":
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
        else:
            from pyarrow import parquet

            parquet.write_table(table, sink)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        reason = " ".join(str(error).split())
        raise MlsubError(
            f"The table cannot be written as {format_}: {reason}. Cast the column to another type."
        ) from error
    return sink.getvalue()
