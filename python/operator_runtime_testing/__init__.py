"""What the tests, the runner and the benchmark share: cases, their check, their timing. Not part of the installed runtime."""

from operator_runtime_testing.case import Case, Cost, Refusal, Tensor, Tolerance, load_cases
from operator_runtime_testing.check import Runtime, check_case
from operator_runtime_testing.compare import CaseError
from operator_runtime_testing.performance import Latency, PerformanceResult

__all__ = ["Case", "CaseError", "Cost", "Latency", "PerformanceResult", "Refusal", "Runtime", "Tensor", "Tolerance"]
__all__ += ["check_case", "load_cases"]
