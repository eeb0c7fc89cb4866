"""The programs of the demos: a simulated arm, tours of targets, and who judges them."""
