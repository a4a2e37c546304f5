"""An example of a plug-in for keju; each module declares one thing."""
