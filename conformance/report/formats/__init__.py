"""The forms that a report is written in: page, Markdown, JSON, JUnit XML, badge."""
