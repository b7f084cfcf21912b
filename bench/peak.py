# Runs a program, and prints its peak memory to stderr in the form of peak.cjs, which only Node can load.
import resource
import subprocess
import sys

code = subprocess.call(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
# In bytes on macOS, in kilobytes elsewhere.
print("peak", peak // 1024 if sys.platform == "darwin" else peak, file=sys.stderr)
sys.exit(code)
