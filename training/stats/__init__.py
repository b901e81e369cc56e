"""Statistics with intervals: effects over set-ups, scores of several runs, pictures of both."""
