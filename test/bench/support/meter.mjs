/** Loaded before each measured server: tells the bench what its process used so far. */
if (process.send) {
  process.on('message', message => {
    if (message !== 'usage') return;
    const { user, system } = process.cpuUsage();
    process.send({ usage: { cpuMicros: user + system, rssBytes: process.memoryUsage.rss() } });
  });
  process.channel.unref();
}
