"""Language models, near and far, behind one port."""
