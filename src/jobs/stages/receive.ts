import { leavingOf } from '../../context/interrupts.ts';
import type { Context } from '../../context.ts';
import type { Job } from '../job.ts';
import { openKept } from '../kept.ts';
import { createJobOutput } from '../output.ts';
import { createPrinter } from '../printer.ts';
import type { Received } from '../received.ts';
import { probe } from '../remote/probe.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { createPosition } from './position.ts';

/** Milliseconds to wait for a reader while the instance bills. */
const BRIEFLY = 1_000;
/** Milliseconds between two looks whether a command has exited whose reader is far behind. */
const LOOK = 10_000;

/** Continues the output of a job at the printed position. `shellNow`: the present connection. */
export async function receiveOutput(
  job: Job,
  shellNow: () => RemoteShell,
  context: Context,
): Promise<Received> {
  const { record, phases } = job;
  const { clock, err, interrupts } = context;
  const start = { ...record.printed };
  const leaving = leavingOf(interrupts);
  // The first Ctrl-C of another command than `run` leaves the job.
  const stop = job.by === 'run' ? leaving : AbortSignal.any([leaving, interrupts.first]);
  const output = createJobOutput(context, stop);
  const kept = await openKept(record, start, context);
  const printer = createPrinter({
    kept,
    start,
    async print(from, bytes) {
      phases.clear();
      await output.print(from, bytes);
    },
    onPrinted: () => position.moved(),
    async hasExited(signal) {
      await clock.sleep(LOOK, signal);
      const found = await probe(shellNow(), signal);
      return typeof found === 'object' && found.state !== 'running';
    },
    onFault({ message }) {
      output.endLine();
      err.warn('local_storage', `${message} Printing continues.`);
    },
  });
  const position = createPosition(job, printer.printed, context);
  return {
    offsets: { ...kept.end },
    receive: printer.receive,
    output: Object.create(output, { print: { value: printer.printAfter } }),
    isWhole: false,
    async settle() {
      const settled = new AbortController();
      const printed = printer.finish(stop).catch(() => undefined);
      const late = clock.sleep(BRIEFLY, settled.signal).catch(() => undefined);
      await Promise.race([printed, late]);
      settled.abort();
      await position.hold();
    },
    async finish() {
      position.resume();
      try {
        await printer.finish(interrupts.first.aborted ? stop : interrupts.first);
      } finally {
        await position.close();
        kept.close();
      }
    },
  };
}
