"""Lookup tables of TensorFlow 1: `tf.lookup`, from texts or integers to integers, texts or floats."""

from .contents import KeyValueTensorInitializer as KeyValueTensorInitializer
from .contents import TextFileIdTableInitializer as TextFileIdTableInitializer
from .contents import TextFileIndex as TextFileIndex
from .contents import TextFileInitializer as TextFileInitializer
from .contents import TextFileStringTableInitializer as TextFileStringTableInitializer
from .mutable import MutableDenseHashTable as MutableDenseHashTable
from .mutable import MutableHashTable as MutableHashTable
from .tables import FastHashSpec as FastHashSpec
from .tables import HashTable as HashTable
from .tables import IdTableWithHashBuckets as IdTableWithHashBuckets
from .tables import LookupInterface as LookupInterface
from .tables import StaticHashTable as StaticHashTable
from .tables import StaticVocabularyTable as StaticVocabularyTable
from .tables import StrongHashSpec as StrongHashSpec
from .vocabularies import index_table_from_file as index_table_from_file
from .vocabularies import index_table_from_tensor as index_table_from_tensor
from .vocabularies import index_to_string as index_to_string
from .vocabularies import index_to_string_table_from_file as index_to_string_table_from_file
from .vocabularies import index_to_string_table_from_tensor as index_to_string_table_from_tensor
from .vocabularies import string_to_index as string_to_index
