# SPDX-FileCopyrightText: 2026 basis_ik maintainers
# SPDX-License-Identifier: Apache-2.0

"""How commands are executed: what is sent next, given what the controller is known to do."""
