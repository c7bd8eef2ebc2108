"""The site of the documentation: `cargo xtask docs` builds it offline, and refuses every warning.

The command-line reference comes from the program's own parser, the Python reference from the docstrings, the notebooks are executed. Pages stay readable
where they lie, in docs/.
"""

import os
import subprocess
from pathlib import Path

import austerity
from pygments.lexers.rust import RustLexer

HERE = Path(__file__).resolve().parent

project = "austerity"
author = "the austerity developers"
copyright = "the austerity developers; MIT or Apache-2.0"
release = version = austerity.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "reproduction/**"]
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}

myst_enable_extensions = ["deflist"]
# Headings can be linked to, as on the pages of a repository.
myst_heading_anchors = 4
# No execution result is taken from a stored file: what a notebook shows was computed by this build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 180
nb_merge_streams = True

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True

html_theme = "pydata_sphinx_theme"
html_title = "austerity"
html_show_sphinx = False
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["austerity.css"]
html_extra_path = [path for path in [os.environ.get("AUSTERITY_EXPLAINED")] if path]
html_theme_options = {
    "show_nav_level": 1,
    "header_links_before_dropdown": 7,
    "navigation_depth": 2,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

def command_line(program: str) -> str:
    """The page of all commands and options, as the parser knows them."""
    return subprocess.run([program, "man", "--markdown"], check=True, capture_output=True, text=True, encoding="utf-8").stdout


def write_references(app):
    """Writes what is generated, beside the pages; the files are not kept."""
    program = os.environ.get("AUSTERITY_PROGRAM", "austerity")
    page = command_line(program)
    target = HERE / "reference" / "command-line.md"
    if not target.exists() or target.read_text(encoding="utf-8") != page:
        target.write_text(page, encoding="utf-8")


def setup(app):
    # Rust's own name for code that is not a test.
    app.add_lexer("rust,ignore", RustLexer)
    app.connect("builder-inited", write_references)
