"""MoveIt's kinematics services: compute_ik and compute_fk."""
