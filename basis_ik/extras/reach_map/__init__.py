# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Maps of reach: the share of orientations that an arm reaches in each voxel."""
