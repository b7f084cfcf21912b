/** The parts of a probe on an idle instance with one card, in order. */
export const PARTS: Readonly<Record<string, string>> = {
  uptime: '5000.25 9000.00',
  boot: 'b1e2\n42',
  cpu1: 'cpu  1000 0 500 90000 300 0 20 0 0 0\ncpu0 1000 0 500 90000 300 0 20 0 0 0\nbtime 1768473400',
  net: [
    'Inter-|   Receive                                                |  Transmit',
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
    '    lo: 9999999     100    0    0    0     0          0         0  9999999     100    0    0    0     0       0          0',
    '  eth0:    4000      40    0    0    0     0          0         0     1000      10    0    0    0     0       0          0',
  ].join('\n'),
  memory: 'MemTotal:       65536000 kB\nMemFree:        1000 kB\nMemAvailable:   60293120 kB',
  disk: 'Filesystem 1024-blocks Used Available Capacity Mounted on\n/dev/vda1 100 61 39 61% /',
  terminals: '',
  ptys: '',
  job: 'gpucloud-run tar\ngpucloud-run ready',
  cards1: '0, NVIDIA H100 80GB HBM3, 0, 5, 81559, 31, 69.95',
  cards2: '0, NVIDIA H100 80GB HBM3, 1, 5, 81559, 31, 69.95',
  cards3: '0, NVIDIA H100 80GB HBM3, 0, 5, 81559, 31, 70.01',
  cpu2: 'cpu  1050 0 500 90140 310 0 20 0 0 0',
};

/** Returns the output of a probe. A part given as an object has failed. */
export function probeOutput(
  change: Readonly<Record<string, string | { readonly code: number; readonly text?: string }>> = {},
): string {
  return Object.entries({ ...PARTS, ...change })
    .map(([name, part]) => {
      const { text = '', code } = typeof part === 'string' ? { text: part, code: 0 } : part;
      const lines = text === '' ? '' : `${text}\n`;
      return `gpucloud-probe begin ${name}\n${lines}gpucloud-probe end ${name} ${code}\n`;
    })
    .join('')
    .concat('gpucloud-probe done\n');
}
