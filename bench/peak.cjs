// Loaded before a Node program: prints its peak memory to stderr at exit.
process.on('exit', () => {
  require('node:fs').writeSync(2, `peak ${process.resourceUsage().maxRSS}\n`);
});
