"""What the rules that are only written say of published logs: a fixed sample, with every group that has a finding."""

from __future__ import annotations

from collections import Counter

import pytest

from mlsub.review.run import audit_run
from mlsub.rounds import normalise_round
from tests.review.folding import read_run
from tools.support.corpus import CORPUS

WRITTEN = {
    "run.eval-cadence",
    "run.eval-missing",
    "run.eval-samples",
    "run.progress-backwards",
    "run.progress-steps",
    "run.train-samples",
}
# Entry folders (all their logs) and the findings on them.
SAMPLE: dict[str, dict[str, int]] = {
    "v0.7/Google/results/tpu-v4-128-TF/resnet": {},
    "v0.7/Google/results/tpu-v3-4096-JAX/ssd": {},
    "v0.7/Google/results/tpu-v4-16-TF/bert": {},
    "v1.0/Google/results/tpu-v4-128-TF/resnet": {},
    "v1.0/Google/results/tpu-v4-4096-TF/ssd": {},
    "v1.0/PCL/results/CloudBrainII_1024_mindspore_close/resnet": {},
    "v1.0/Inspur/results/nf5488m6_hugectr/dlrm": {},
    "v1.0/Habana/results/SYS-420GH-TNGR/resnet": {},
    "v1.1/HPE/results/HPE-ProLiant-XL675d-Gen10-Plus_A100-SXM4-80GB_pytorch/maskrcnn": {
        "run.train-samples": 5,
        "run.eval-samples": 5,
    },
    "v2.0/Google/results/cloud-tpu-v4-4096-TF/ssd": {},
    "v2.1/Intel/results/1-node-SPR-pytorch/dlrm": {},
    "v3.0/IEI/results/nf5468m6_pytorch/maskrcnn": {"run.train-samples": 5, "run.eval-samples": 5},
    "v3.1/Ailiverse/results/8xA100_40GB_open/resnet": {"run.eval-samples": 5},
    "v3.1/Google/results/cloud-tpu-v5e-4096-PAX/gpt3": {},
    "v4.0/JuniperNetworks/results/a100_n8_ngc24.1_pytorch_deepspeed/llama2_70b_lora": {"run.eval-cadence": 10},
    "v4.0/tinycorp/results/tinybox_green/resnet": {},
    "v4.0/tinycorp/results/tinybox_red/resnet": {"run.eval-cadence": 4},
    "v4.1/Google/results/cloud-tpu-v5p-16-maxdiffusion/stable_diffusion": {},
    "v5.0/Google/results/h200_n8_nemo/stable_diffusion": {"run.eval-cadence": 10},
    "v5.0/tinycorp/results/tinybox_green/retinanet": {},
    "v5.1/HPE/results/HPE-Cray-XD670-H200-SXM5-141GB_n8_25.09/llama31_8b": {"run.eval-cadence": 10},
    "v5.1/Krai/results/Cray-XD670-H200-SXM5-141GB_n8_v5.0/llama2_70b_lora": {},
    "v5.1/Quanta_Cloud_Technology/results/D74H-7U/rgat": {},
}


@pytest.mark.skipif(not CORPUS.is_dir(), reason="needs the published logs (folder shared, beside the repository)")
@pytest.mark.parametrize("entry", SAMPLE)
def test_published_entries_have_the_findings_that_were_studied(entry: str) -> None:
    round_ = normalise_round(entry.partition("/")[0])
    assert round_ is not None
    files = sorted((CORPUS / entry).glob("result_*.txt"))
    assert files
    found = Counter(
        finding.rule
        for file in files
        for finding in audit_run(read_run(file), file.name, "training", round_)
        if finding.rule in WRITTEN
    )
    assert found == SAMPLE[entry]
