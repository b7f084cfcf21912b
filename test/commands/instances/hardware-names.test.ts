import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { IMAGE, OFFER } from '../../support/sandbox-ids.ts';

describe('an offer with a similar name', () => {
  let world: SandboxWorld;
  beforeEach(async () => {
    world = await createSandboxWorld();
    await world.cli(['catalog', 'add', 'offer', OFFER, '--name', 'RTX 4090']);
  });
  afterEach(() => world.close());

  const create = (offer: string, ...more: string[]) =>
    world.cli(['instances', 'create', 'box', '--offer', offer, '--image', IMAGE, ...more]);

  test("is refused with a suggestion if it can't be an ID", async () => {
    const refused = await create('RTX 4091');
    expect(refused).toMatchObject({ code: 2, stdout: '', requests: [] });
    expect(refused.stderr).toContain('--offer "RTX 4091": no known offer has that name');
    expect(refused.stderr).toContain('did you mean RTX 4090?');
    const json = await create('RTX 4091', '--json');
    expect(json).toMatchObject({ code: 2, requests: [] });
    expect(JSON.parse(json.stderr).error.hint).toBe('did you mean RTX 4090?');
    expect((await create('no such thing at all')).stderr).not.toContain('did you mean');
  });

  // It may be an ID that is not known here, so the service decides.
  const said = 'sending it as an ID. Did you mean rtx-4090?';

  test.each([[[]], [['--json']], [['-o', 'jsonl']], [['-q']]])(
    'is sent with a suggestion if it can be an ID, with %j',
    async (flags) => {
      const dry = await create('RTX4090', '--dry-run', ...flags);
      expect(dry).toMatchObject({ code: 0, requests: [] });
      expect(dry.stderr).toContain(said);
      const sent = await create('RTX4090', ...flags);
      expect(sent.code).toBe(1);
      expect(sent.requests[0]?.body).toMatchObject({ offer_id: 'RTX4090' });
      expect(sent.stderr).toContain(said);
    },
  );

  test('gets no suggestion if it is unlike every name', async () => {
    const { stderr } = await create('offer_77', '--json');
    expect(stderr).not.toContain('Did you mean');
  });
});
