# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""Programs of the demos: a simulated arm, tours of targets, and checks of the motions."""
