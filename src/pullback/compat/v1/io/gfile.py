"""Files under the names of TensorFlow 2: `tf.io.gfile`."""

import os as _os

from .. import gfile as _gfile

GFile = _gfile.GFile
copy = _gfile.Copy
exists = _gfile.Exists
glob = _gfile.Glob
isdir = _gfile.IsDirectory
join = _os.path.join
listdir = _gfile.ListDirectory
makedirs = _gfile.MakeDirs
mkdir = _gfile.MkDir
remove = _gfile.Remove
rename = _gfile.Rename
rmtree = _gfile.DeleteRecursively
stat = _gfile.Stat
walk = _gfile.Walk
