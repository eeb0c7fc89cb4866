from hypothesis import settings

# Kernels compile within the first example; derandomised, so that a run can be repeated.
settings.register_profile("basis_ik", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("basis_ik")
