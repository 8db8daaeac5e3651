"""Many processes, one program: `initialize` joins them, `Session(mesh=...)` spreads over their devices."""

from .engines.processes import barrier as barrier
from .engines.processes import initialize as initialize
from .engines.processes import process_count as process_count
from .engines.processes import process_index as process_index
from .engines.processes import shutdown as shutdown
