"""Files of predictions: how each form is read, and the record that hosts write."""
