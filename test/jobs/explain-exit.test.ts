import { expect, test } from 'vitest';
import { explainExit } from '../../src/jobs/end/summary.ts';

test.each([
  [0, ['true'], undefined],
  [1, ['python train.py'], undefined],
  [null, ['true'], undefined],
  [127, ['python train.py'], "-- sh -c 'python train.py'"],
  [126, ['./train me'], "-- sh -c './train me'"],
  [127, ['conda', 'run'], 'without a login shell'],
  [126, ['./train.sh'], 'chmod +x'],
])('explains exit code %s of %j: %s', (code, command, text) => {
  const explained = explainExit(code, command);
  if (text === undefined) expect(explained).toBeUndefined();
  else expect(explained).toContain(text);
});
