"""Graph visualisation: forward operations going down on the left, their gradients coming up on the right."""

from .svg import Picture as Picture
from .svg import draw as draw
