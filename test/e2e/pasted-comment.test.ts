import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { computerWithProgram, freshShell } from '../completion/shells.ts';
import { needs } from '../support/needs.ts';

test('rents nothing for a line with a comment that is pasted into zsh', needs('zsh'), async () => {
  const computer = await computerWithProgram();
  Object.assign(computer.env, { GPUCLOUD_PROFILE: 'sandbox' });
  await writeFile(
    join(computer.home, 'job.yaml'),
    'offer_id: RTX 4090\nimage_id: Ubuntu 22.04\nterminate_after: 1h\ncommand: make\n',
  );
  const shell = await freshShell('zsh', computer);
  try {
    shell.type('gpucloud run -f job.yaml   # run it\r');
    await shell.shows(/^hint: .*\nready>$/m);
    shell.type('print code $?\r');
    const refused = await shell.shows(/^code \d+\nready>$/m);
    shell.type('setopt interactive_comments\r');
    await shell.shows(/comments\nready>$/);
    shell.type('clear; gpucloud instances list --all --json # list them\r');
    const listed = await shell.shows(/^\[\]\nready>$/m);
    expect({ refused, listed }).toEqual({
      refused: `ready> gpucloud run -f job.yaml   # run it
error: "#": the shell passed a comment on as arguments
hint: nothing was done; leave the comment out, or make zsh ignore comments: setopt interactive_comments
ready> print code $?
code 2
ready>`,
      listed: '[]\nready>',
    });
  } finally {
    await shell.close();
    await computer.remove();
  }
});
