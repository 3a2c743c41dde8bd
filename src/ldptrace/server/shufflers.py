"""The HTTP interface for shufflers: they hand over batches, or say that they deleted one."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from ldptrace.protocol.limits import MAX_BATCH
from ldptrace.server import batches
from ldptrace.server.batches import Label
from ldptrace.server.state import State
from ldptrace.server.tokens import SHUFFLE
from ldptrace.web.answers import BATCH_TYPE, JsonAnswer, expect_type, read_body, read_json
from ldptrace.web.problems import bad_request

# Seconds within which a batch must arrive.
PATIENCE = 600.0


async def batch(request: Request) -> Response:
    """Count a batch, or note that it was deleted."""
    state, name, _ = await State.admit(request, SHUFFLE)
    label = Label(name, request.path_params["plan"], request.path_params.get("window"))
    if request.headers.get("content-type", "").startswith("application/json"):
        number = _deleted(await read_json(request, 1 << 10, state.settings.timeout))
        answer = await state.call(lambda: batches.note_deleted(state.database, label, number, state.clock()))
        return JsonAnswer(answer)
    expect_type(request, BATCH_TYPE, "application/json")
    body = await read_body(request, state.settings.max_upload, PATIENCE, state.uploading)
    # One at a time, after the uploads before it, in a thread of its own.
    return JsonAnswer(
        await state.upload(lambda: batches.count_batch(state.database, label, body, state.clock()))
    )


def _deleted(data: dict[str, object]) -> int:
    number = data.get("deleted")
    if set(data) != {"deleted"} or type(number) is not int or not 0 <= number <= MAX_BATCH:
        raise bad_request(f"deleted is a number of reports up to {MAX_BATCH:,}")
    return number
