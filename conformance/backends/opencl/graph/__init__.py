"""What was asked: nodes and views, and how programs and their operations become them."""
