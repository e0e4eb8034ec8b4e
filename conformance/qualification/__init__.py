"""The suite itself, judged: by backends that are broken on purpose and by right ones that look unusual."""
