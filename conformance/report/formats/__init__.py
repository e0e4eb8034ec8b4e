"""The forms that a report is written in: page, Markdown, JSON, JUnit XML, badge.

Here: a writer for each form, and the words that they share.
Not here: what is written (``report.summarise``).
"""
