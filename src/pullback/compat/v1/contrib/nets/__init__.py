"""Networks of TF-Slim, by the names of their checkpoints: `tf.contrib.slim.nets`."""

from . import resnet_utils as resnet_utils
from . import resnet_v1 as resnet_v1
from . import resnet_v2 as resnet_v2
from . import vgg as vgg
