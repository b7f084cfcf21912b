import { traceOf } from './kills.ts';
import type { Scenario } from './rig.ts';

const CALLS = [
  'openat',
  'fsync',
  'rename',
  'unlink',
  'write',
  'writev',
  'sendto',
  'sendmsg',
] as const;

const PLACE = (name: string) => `/journal/[^/>]*/[^/>]*/${name}`;

/** What has to happen, in this order: a line of strace of which each is the first one that fits. */
const STEPS: readonly (readonly [string, RegExp])[] = [
  [
    'the exclusive file of the request',
    new RegExp(`openat\\(.*${PLACE('requests')}/traced\\.json", .*O_EXCL`),
  ],
  ['its fsync', new RegExp(`fsync\\(\\d+<[^>]*${PLACE('requests')}/traced\\.json>`)],
  ['fsync of its folder', new RegExp(`fsync\\(\\d+<[^>]*${PLACE('requests')}>`)],
  ['the request', /(write|writev|sendto|sendmsg)\(\d+<(socket|TCP)[^>]*>.*POST \/instances/],
  ['fsync of the instance', new RegExp(`fsync\\(\\d+<[^>]*${PLACE('instances')}/[^/>]*\\.tmp>`)],
  ['its name', new RegExp(`rename\\("[^"]*${PLACE('instances')}/[^"]*\\.tmp"`)],
  ['fsync of its folder', new RegExp(`fsync\\(\\d+<[^>]*${PLACE('instances')}>`)],
  ['the end of the request', new RegExp(`unlink\\("[^"]*${PLACE('requests')}/traced\\.json"`)],
  ['what is printed', /write\(1<[^>]*>, "\{/],
];

/** What is missing of the order in which things have to reach the disk; nothing, if all is well. */
export async function disorder(
  bundle: string,
  operation: Scenario['operation'],
): Promise<string[]> {
  const lines = joined(await traceOf(bundle, operation, CALLS));
  const wrong: string[] = [];
  let at = -1;
  for (const [name, pattern] of STEPS) {
    const next = lines.findIndex((line, index) => index > at && pattern.test(line));
    if (next < 0) wrong.push(`${name} is missing, or comes too early`);
    else at = next;
  }
  // The step before the one that is missing may be one of many of its kind: the request is not.
  const requests = lines.filter((line) => STEPS[3]?.[1].test(line) === true);
  if (requests.length !== 1) wrong.push(`${requests.length} requests`);
  return wrong;
}

/**
 * One line for each call, where it ended: strace breaks a call in two when another thread calls in
 * between, and only at its end is anything on the disk. A write counts from its beginning.
 */
function joined(log: string): string[] {
  const begun = new Map<string, string>();
  return log.split('\n').flatMap((line) => {
    const [, thread = '', call = ''] = /^(\d+) +(.*)$/.exec(line) ?? [];
    if (call.endsWith('<unfinished ...>')) {
      if (/^(write|writev|sendto|sendmsg)\(/.test(call)) return [call];
      begun.set(thread, call.replace('<unfinished ...>', ''));
      return [];
    }
    const [, name, rest] = /^<\.\.\. (\w+) resumed>(.*)$/.exec(call) ?? [];
    if (name === undefined) return [call];
    const start = begun.get(thread);
    begun.delete(thread);
    return start === undefined ? [] : [`${start}${rest ?? ''}`];
  });
}
