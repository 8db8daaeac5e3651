"""Feature columns of TensorFlow 1: `tf.feature_column`, from features by name to the input of a model."""

from .categorical import categorical_column_with_hash_bucket as categorical_column_with_hash_bucket
from .categorical import categorical_column_with_identity as categorical_column_with_identity
from .categorical import weighted_categorical_column as weighted_categorical_column
from .crossed import crossed_column as crossed_column
from .embeddings import embedding_column as embedding_column
from .embeddings import shared_embedding_columns as shared_embedding_columns
from .indicators import indicator_column as indicator_column
from .input_layer import input_layer as input_layer
from .input_layer import make_parse_example_spec as make_parse_example_spec
from .linear_model import linear_model as linear_model
from .numeric import bucketized_column as bucketized_column
from .numeric import numeric_column as numeric_column
from .sequences import sequence_categorical_column_with_hash_bucket as sequence_categorical_column_with_hash_bucket
from .sequences import sequence_categorical_column_with_identity as sequence_categorical_column_with_identity
from .sequences import (
    sequence_categorical_column_with_vocabulary_file as sequence_categorical_column_with_vocabulary_file,
)
from .sequences import (
    sequence_categorical_column_with_vocabulary_list as sequence_categorical_column_with_vocabulary_list,
)
from .sequences import sequence_numeric_column as sequence_numeric_column
from .vocabularies import categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file
from .vocabularies import categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list
