"""What is asked of a model and its data: explanations, importance, diagnosis, drift."""
