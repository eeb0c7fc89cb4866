from hypothesis import settings

# Without deadlines, for machines under load; derandomised, so that a run can be repeated.
settings.register_profile("basis_ik", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("basis_ik")
