"""Parts of GraphDefs, and frozen ones, in TensorFlow 1: `tf.graph_util`."""

from ...graphdef.freezing import convert_variables_to_constants as convert_variables_to_constants
from ...graphdef.freezing import extract_sub_graph as extract_sub_graph
from ...graphdef.freezing import remove_training_nodes as remove_training_nodes
from ...graphdef.importing import import_graph_def as import_graph_def
