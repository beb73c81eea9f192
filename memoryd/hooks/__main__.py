"""`python -P -m memoryd.hooks EVENT`: run a hook without the command line of memoryctl, which takes longer to load."""

import sys

from memoryd.hooks.hook_run import main

if __name__ == "__main__":
    main(sys.argv[1:])
