// Loaded before a program of Node: tells its greatest memory on stderr when it exits.
process.on('exit', () => {
  require('node:fs').writeSync(2, `peak ${process.resourceUsage().maxRSS}\n`);
});
