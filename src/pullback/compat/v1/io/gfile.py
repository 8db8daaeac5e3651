"""Files under the names of TensorFlow 2, and with its parameters: `tf.io.gfile`."""

import os as _os

from .. import gfile as _gfile
from ..arguments import older as _with

GFile = _gfile.GFile
copy = _with(_gfile.Copy, "src:oldpath, dst:newpath, overwrite")
exists = _with(_gfile.Exists, "path:filename")
glob = _with(_gfile.Glob, "pattern:filename")
isdir = _with(_gfile.IsDirectory, "path:dirname")
join = _os.path.join
listdir = _with(_gfile.ListDirectory, "path:dirname")
makedirs = _with(_gfile.MakeDirs, "path:dirname")
mkdir = _with(_gfile.MkDir, "path:dirname")
remove = _with(_gfile.Remove, "path:filename")
rename = _with(_gfile.Rename, "src:oldname, dst:newname, overwrite")
rmtree = _with(_gfile.DeleteRecursively, "path:dirname")
stat = _with(_gfile.Stat, "path:filename")
walk = _with(_gfile.Walk, "top, topdown:in_order, onerror:")
