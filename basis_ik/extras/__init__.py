# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What the arm does not need: the page in the browser, recordings, maps of reach, pictures."""
