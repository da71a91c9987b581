"""What everything else stands on: the base of devices, settings, versions."""
