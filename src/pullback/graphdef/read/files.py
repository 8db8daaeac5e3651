"""GraphDef import of what is not for graphs alone: files, tables, queues, data sets, summaries. It is left out."""

from __future__ import annotations

from typing import Any

from ..nodes import LeftOut, Node, reader


@reader("Save", "SaveV2", "SaveSlices", "Restore", "RestoreV2", "RestoreSlice", "MergeV2Checkpoints", anything=True)
@reader("ShardedFilename", "ShardedFilespec", anything=True)
@reader(
    "ScalarSummary",
    "HistogramSummary",
    "ImageSummary",
    "AudioSummary",
    "TensorSummary",
    "TensorSummaryV2",
    anything=True,
)
@reader(
    "MergeSummary", "WriteSummary", "WriteScalarSummary", "WriteHistogramSummary", "WriteImageSummary", anything=True
)
@reader(
    "HashTable",
    "HashTableV2",
    "MutableHashTable",
    "MutableHashTableV2",
    "LookupTableFind",
    "LookupTableFindV2",
    anything=True,
)
@reader(
    "InitializeTable",
    "InitializeTableV2",
    "InitializeTableFromTextFile",
    "InitializeTableFromTextFileV2",
    anything=True,
)
@reader(
    "LookupTableSize",
    "LookupTableSizeV2",
    "LookupTableImport",
    "LookupTableImportV2",
    "LookupTableInsertV2",
    anything=True,
)
@reader("LookupTableExport", "LookupTableExportV2", "ReadFile", "WriteFile", "MatchingFiles", "PrintV2", anything=True)
@reader("ParseExample", "ParseExampleV2", "ParseSingleExample", "DecodeRaw", anything=True)
@reader(
    "FIFOQueueV2", "PaddingFIFOQueueV2", "RandomShuffleQueueV2", "QueueEnqueueV2", "QueueEnqueueManyV2", anything=True
)
@reader("QueueDequeueV2", "QueueDequeueManyV2", "QueueCloseV2", "QueueSizeV2", anything=True)
@reader("IteratorV2", "OneShotIterator", "IteratorGetNext", "MakeIterator", "IteratorToStringHandle", anything=True)
def left_out(node: Node, *xs: Any) -> LeftOut:
    del xs
    return node.left_out()
