import { beforeEach, describe, expect, test } from 'vitest';
import { createSandboxWorld, type SandboxWorld } from '../../support/run-cli.ts';
import { IMAGE, OFFER } from '../../support/sandbox-ids.ts';

describe('an unknown offer or image', () => {
  let world: SandboxWorld;
  beforeEach(async () => {
    world = await createSandboxWorld();
    await world.cli(['catalog', 'add', 'offer', OFFER, '--name', 'RTX 4090']);
  });

  const create = (offer: string, ...more: string[]) =>
    world.cli(['instances', 'create', 'box', '--offer', offer, '--image', IMAGE, ...more]);

  test.each(['RTX 409', 'RTX4090', 'rtx409'])(
    'rejects an unknown offer or image, and suggests the nearest name: %s',
    async (offer) => {
      expect((await create(offer)).requests).toEqual([]);
      await create(offer, '--json', '--dry-run');
    },
  );

  test('rejects an unknown offer or image without a suggestion if no name is similar', async () => {
    await create('offer_77');
  });

  test('sends an unknown offer or image as an ID unless known IDs have another form', async () => {
    const note = 'No known image is named "image_77"; using the text as an ID.';
    const argv = [
      ...['instances', 'create', 'box', '--offer', OFFER, '--image', 'image_77', '--no-ssh-key'],
    ];
    const none = await world.cli(argv);
    expect(none.requests[0]?.body).toMatchObject({ image_id: 'image_77' });
    expect(none.stderr).toContain(note);
    await world.cli(['catalog', 'add', 'image', IMAGE, '--name', 'Debian']);
    expect(await world.cli(argv)).toMatchObject({ code: 2, requests: [] });
    await world.cli(['catalog', 'add', 'image', 'image_76', '--name', 'Ubuntu']);
    expect((await world.cli(argv)).stderr).toContain(note);
  });
});

test('matches names of offers, images, templates, drives and instances in any letter case', async () => {
  const world = await createSandboxWorld();
  const env = {
    GPUCLOUD_API_KEY: undefined,
    GPUCLOUD_BASE_URL: undefined,
    GPUCLOUD_PROFILE: 'sandbox',
  };
  const cli = (...argv: string[]) => world.cli(argv, { env });
  await cli('drives', 'create', 'Data', '--size', '10');
  const named = ['--offer', 'rtx 4090', '--image', 'UBUNTU 22.04', '--template', 'JupyterLab'];
  await cli('instances', 'create', 'Box', ...named, '--drive', 'DATA');
  expect((await cli('drives', 'get', 'dATA')).code).toBe(0);
  expect((await cli('instances', 'get', 'bOX', '--query', 'name', '-o', 'tsv')).stdout).toBe(
    'Box\n',
  );

  // Names ignore case, so the running instance takes precedence.
  await cli('instances', 'terminate', 'Box', '--yes', '--wait');
  await cli('instances', 'create', 'box', '--offer', 'rtx 4090', '--image', 'ubuntu 22.04');
  const status = async (name: string) =>
    (await cli('instances', 'get', name, '--query', 'status', '-o', 'tsv')).stdout.trim();
  for (const name of ['Box', 'box', 'BOX']) expect(await status(name)).toBe('PROVISIONING');
});
