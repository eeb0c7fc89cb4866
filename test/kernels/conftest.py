# Copyright 2026 basis_ik maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

import os

from hypothesis import settings

# Kernels compile within the first example; derandomised, so that a run can be repeated. As plain
# Python, a hundred times slower, it is bounds and types that are checked: fewer examples tell.
EXAMPLES = 15 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 60
settings.register_profile("basis_ik", deadline=None, max_examples=EXAMPLES, derandomize=True)
settings.load_profile("basis_ik")
