"""SavedModels as TensorFlow 1 builds and loads them: `tf.saved_model`."""

from ....graphdef import loader as loader
from ....graphdef import signature_constants as signature_constants
from ....graphdef import tag_constants as tag_constants
from ....graphdef.saved_model import SavedModel as SavedModel
from ....graphdef.saved_model import Signature as Signature
from ....graphdef.saved_model import load_frozen as load_frozen
from ....graphdef.saved_model import maybe_saved_model_directory as maybe_saved_model_directory
from ....graphdef.saving import save as save
from ....graphdef.saving import simple_save as simple_save
from ....graphdef.signature_constants import *  # noqa: F403  (TensorFlow has each name twice)
from ....graphdef.tag_constants import *  # noqa: F403
from . import builder as builder
from . import constants as constants
from . import main_op as main_op
from . import signature_def_utils as signature_def_utils
from . import utils as utils
from .constants import *  # noqa: F403
from .main_op import main_op_with_restore as main_op_with_restore
from .signature_def_utils import build_signature_def as build_signature_def
from .signature_def_utils import classification_signature_def as classification_signature_def
from .signature_def_utils import is_valid_signature as is_valid_signature
from .signature_def_utils import predict_signature_def as predict_signature_def
from .signature_def_utils import regression_signature_def as regression_signature_def
from .utils import build_tensor_info as build_tensor_info
from .utils import get_tensor_from_tensor_info as get_tensor_from_tensor_info

Builder = builder.SavedModelBuilder
contains_saved_model = maybe_saved_model_directory
load = loader.load
