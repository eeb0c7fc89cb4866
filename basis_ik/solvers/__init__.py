# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""What solves for one chain of a robot: a pose, a ray, several goals, a path."""
