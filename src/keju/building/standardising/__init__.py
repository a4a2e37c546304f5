"""Pictures and texts in one form: JPEG within a budget of pixels; marks and scripts as declared."""
