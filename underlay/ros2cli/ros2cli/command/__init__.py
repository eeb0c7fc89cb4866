"""One module for each sub-command, imported when it is called for."""
