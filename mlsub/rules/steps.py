"""The order of a run: which key is logged at which step, and as what type of event."""

from __future__ import annotations

from mlsub.log.run import expected_event_type

#: The steps of a run, and the keys that are logged there; the hyperparameters are all others.
STEPS: dict[str, tuple[str, ...]] = {
    "submission": (
        *("submission_benchmark", "submission_division", "submission_org", "submission_platform"),
        *("submission_status", "submission_poc_name", "submission_entry", "cache_clear"),
    ),
    "hyperparameters": (),
    "initialisation": ("init_start", "weights_initialization", "init_stop"),
    "run": ("run_start", "staging_start", "staging_stop"),
    "blocks and epochs": ("block_start", "epoch_start", "epoch_stop", "block_stop", "save_model"),
    "evaluations": (
        *("eval_start", "eval_accuracy", "eval_error", "averaged_validation_loss", "aggregated_eval_accuracy"),
        *("eval_stop", "eval_result"),
    ),
    "end": ("run_stop",),
}
_STEP_OF = {key: step for step, keys in STEPS.items() for key in keys}
#: Where in a run each of those keys comes.
PLACE = {key: place for place, key in enumerate(_STEP_OF)}


def step_of(key: str) -> str:
    """The step of a run at which a key is logged."""
    return _STEP_OF.get(key, "hyperparameters")


def before_run(key: str) -> bool:
    """Whether a key is logged before the clock starts."""
    return step_of(key) in ("submission", "hyperparameters", "initialisation")


def event_type(key: str) -> str:
    """The type of event that the official logger gives a record of this key."""
    return expected_event_type(key) or "POINT_IN_TIME"
