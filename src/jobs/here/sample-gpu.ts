import type { JobGpu } from '../../json-results/jobs.ts';
import { gpuIn, SAMPLE } from '../remote/gpu-sample.ts';
import type { RemoteShell } from '../remote/remote-shell.ts';
import { FOLDER } from '../remote/supervisor.ts';

/** The numbers go over the connection, so the sampler ends with it and leaves nothing to read. */
const SCRIPT = `cd ${FOLDER} && command -v nvidia-smi >/dev/null || exit 0
${SAMPLE}
sample echo`;

/** Characters of the output to keep: more than a line. */
const KEPT = 1_000;

/** Samples the cards of an instance until the work is done. Returns null without a sample. */
export async function sampleGpu(
  shell: Pick<RemoteShell, 'start'>,
  work: () => Promise<unknown>,
): Promise<JobGpu | null> {
  const over = new AbortController();
  let text = '';
  async function read(): Promise<void> {
    const { stdout, stderr } = await shell.start(SCRIPT, [], over.signal);
    stderr.resume();
    for await (const chunk of stdout) text = (text + String(chunk)).slice(-KEPT);
  }
  // A connection that fails ends the samples, not the work.
  read().catch(() => undefined);
  await work().finally(() => over.abort());
  const uses = text.split('\n').slice(0, -1).map(gpuIn);
  return uses.findLast((use) => use !== null) ?? null;
}
