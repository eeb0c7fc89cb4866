import os

from hypothesis import settings

# Kernels compile within the first example; derandomised, so that a run can be repeated. As plain
# Python, a hundred times slower, it is bounds and types that are checked: fewer examples tell.
EXAMPLES = 15 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 60
settings.register_profile("basis_ik", deadline=None, max_examples=EXAMPLES, derandomize=True)
settings.load_profile("basis_ik")
