"""What a report is made from: run logs, the specification, the kill matrix, and what people wrote."""
