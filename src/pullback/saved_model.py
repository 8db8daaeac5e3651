"""SavedModels of TensorFlow: `pb.saved_model`."""

from .graphdef import loader as loader
from .graphdef import signature_constants as signature_constants
from .graphdef import tag_constants as tag_constants
from .graphdef.saved_model import SavedModel as SavedModel
from .graphdef.saved_model import Signature as Signature
from .graphdef.saved_model import load as load
from .graphdef.saved_model import load_frozen as load_frozen
from .graphdef.saving import save as save
from .graphdef.saving import simple_save as simple_save
