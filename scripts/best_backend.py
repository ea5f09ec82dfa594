"""Prints the best backend that works here, "nvidia" or "cpu", and to stderr why it is not nvidia where it is not."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def torch_problem(torch: Any) -> str:
    """Why torch cannot put a tensor on the GPU, or ""."""
    if torch.version.cuda is None:
        return f"torch {torch.__version__} is a build without CUDA; install one with it (unset OPRT_TORCH_INDEX_URL)"
    try:
        torch.zeros(1, device="cuda").add_(1).cpu()
    except (RuntimeError, AssertionError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        return f"torch {torch.__version__} for CUDA {torch.version.cuda} cannot compute on the GPU ({reason}); check the driver"
    return ""


def choose(available: Mapping[str, str], torch: Any, has_gpu: bool) -> tuple[str, str]:
    """The backend, and why it is not nvidia. `available` maps each backend to "" or to why it is not there."""
    reason = available.get("nvidia", "not in this build")
    if not reason:
        reason = torch_problem(torch)
    elif has_gpu:
        reason += " (there is an NVIDIA GPU: the build needs nvcc of CUDA 12.4 or newer, in PATH or as CUDACXX)"
    return ("cpu", reason) if reason else ("nvidia", "")


def main() -> None:
    sys.path.insert(0, str(ROOT / "python"))
    import torch

    from operator_runtime.backend import available_backends

    backend, reason = choose(available_backends(), torch, Path("/dev/nvidiactl").exists())
    if reason:
        print(f"Backend cpu; nvidia is not used: {reason}", file=sys.stderr)
    print(backend)


if __name__ == "__main__":
    main()
