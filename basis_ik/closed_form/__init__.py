# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""All branches of a pose for arms that have a closed form; proofs that there are none."""
