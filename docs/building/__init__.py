"""What Sphinx needs to build the site from pages that are plain Markdown, and from the code."""
