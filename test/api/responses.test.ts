import { describe, expect, test } from 'vitest';
import { apiFor, data, failureOf, ID, instance, json, type Step, scripted } from './harness.ts';

async function got(step: Step) {
  return apiFor((await scripted(step)).url).instances.get(ID);
}

const unclear = async (step: Step) => {
  const error = await failureOf(got(step));
  expect(error.failure).toBe('notUnderstood');
  return error.message.replace('Could not read the response to GET /instances/{id}: ', '');
};

test('keeps unknown fields, unknown enum values and the order of fields', async () => {
  const odd = {
    zeta: { deep: [1, { x: null }] },
    status: 'HIBERNATING',
    id: ID,
    connection_info: { type: 'quantum', endpoints: 'none', secrets: [1], more: true },
    application_template: 7,
    storage_drive: [],
    metadata: 'text',
    offer: { gpu_model: { name: 'X', new: 1 } },
  };
  const instance = await got(data(odd));
  expect(JSON.stringify(instance)).toBe(JSON.stringify(odd));
});

test('accepts a missing or null field, except id and status', async () => {
  await expect(got(data({ id: ID, status: 'ACTIVE' }))).resolves.toBeDefined();
  const nulls = { ...instance('ACTIVE'), name: null, offer: null, ssh_keys: null, ssh_port: null };
  await expect(got(data({ ...nulls, connection_info: null }))).resolves.toEqual({
    ...nulls,
    connection_info: null,
  });
});

test.each<[string, unknown, string]>([
  ['no ID', { status: 'ACTIVE' }, 'data.id is missing.'],
  ['a number as ID', { id: 7, status: 'A' }, 'data.id is not of type string.'],
  ['an ID that contains ..', { id: '../..', status: 'A' }, 'data.id breaks the rule: no id.'],
  ['no status', { id: ID }, 'data.status is missing.'],
  ['a list', [], 'data is not of type object.'],
  ['null', null, 'data is not of type object.'],
])("rejects %s, and reports the field's path without its value", async (_name, value, words) => {
  expect(await unclear(data(value))).toBe(words);
});

test('rejects a list if a row has no ID', async () => {
  const { url } = await scripted(data([{ id: 'drive-1' }, { name: 'lost' }]));
  const error = await failureOf(apiFor(url).drives.list());
  expect(error.message).toContain('data.1.id is missing');
});

test('rejects a response with another ID, but accepts the ID in another letter case', async () => {
  const other = 'ffffffff-8a51-4e0b-9c39-1f6f6a2b7d10';
  const elsewhere = await scripted(data({ id: other, status: 'ACTIVE' }));
  const error = await failureOf(apiFor(elsewhere.url).instances.get(ID));
  expect(error).toMatchObject({ failure: 'notUnderstood', resource: ID });
  expect(error.message).toContain(other);
  const { url } = await scripted(data({ id: ID.toUpperCase(), status: 'ACTIVE' }));
  expect(await apiFor(url).instances.get(ID)).toMatchObject({ status: 'ACTIVE' });
});

describe('a response about another instance', () => {
  const other = 'ffffffff-8a51-4e0b-9c39-1f6f6a2b7d10';
  const goals = { start: 'ACTIVE', stop: 'STOPPED', terminate: 'TERMINATED' } as const;
  const verbs = ['start', 'stop', 'terminate'] as const;

  test.each(verbs)('reports the outcome of %s as unknown', async (verb) => {
    const server = await scripted(data({ id: other, status: goals[verb] }));
    const error = await failureOf(apiFor(server.url).instances[verb](ID));
    expect(error).toMatchObject({ failure: 'outcomeUnknown', resource: ID, mayBeBilling: true });
    expect(error.message).toContain(`the service returned instance ${other} instead`);
    expect(server.calls()).toEqual([`POST /instances/${ID}/${verb}`]);
  });

  test.each(verbs)(
    'accepts the response to %s if the ID differs only in letter case',
    async (verb) => {
      const status = goals[verb];
      const { url } = await scripted(data({ id: ID.toUpperCase(), status }));
      expect(await apiFor(url).instances[verb](ID)).toMatchObject({ status });
    },
  );
});

test('warns about a field of the wrong type in the response to a POST', async () => {
  const warnings: string[] = [];
  const { url } = await scripted(data({ id: ID, status: 'PROVISIONING', name: ['a'] }, 201));
  const api = apiFor(url, { warn: (line) => warnings.push(line) });
  const body = { offer_id: 'offer-1', image_id: 'image-1', instance_name: 'box' };
  expect(await api.instances.create(body)).toMatchObject({ id: ID, name: null });
  expect(warnings).toEqual([expect.stringContaining('data.name is not of type string')]);
});

describe('a field of the wrong type', () => {
  const read = async (value: unknown) => {
    const told: string[] = [];
    const { url } = await scripted(data(value));
    const instance = await apiFor(url, { warn: (line) => told.push(line) }).instances.get(ID);
    return { instance, told };
  };
  const odd = (field: string, more = '') =>
    `The response to GET /instances/{id} does not match the API document: ${field}${more}. Unreadable fields are omitted.`;

  test.each<[string, object, object, string]>([
    ['a number for a string', { name: 1.5 }, { name: '1.5' }, 'data.name is not of type string'],
    ['a list for a string', { name: ['a'] }, { name: null }, 'data.name is not of type string'],
    ['a boolean for a string', { name: true }, { name: 'true' }, 'data.name is not of type string'],
    [
      'a string for a number',
      { offer: { gpu_count: '8', name: 'X' } },
      { offer: { gpu_count: null, name: 'X' } },
      'data.offer.gpu_count is not of type number',
    ],
    [
      'a boolean for a number',
      { offer: { gpu_count: true } },
      { offer: { gpu_count: null } },
      'data.offer.gpu_count is not of type number',
    ],
    ['a number for an object', { offer: 7 }, { offer: null }, 'data.offer is not of type object'],
    [
      'a field of a list item',
      { ssh_keys: [{ name: 'a' }, { name: 5 }] },
      { ssh_keys: [{ name: 'a' }, { name: '5' }] },
      'data.ssh_keys.1.name is not of type string',
    ],
    [
      'a list item',
      { ssh_keys: [{ name: 'a' }, 'b'] },
      { ssh_keys: null },
      'data.ssh_keys.1 is not of type object',
    ],
  ])(
    "keeps a response's other fields if one has the wrong type: %s",
    async (_name, given, expected, words) => {
      const { instance: got, told } = await read({ ...instance('A'), ...given });
      expect(got).toEqual({ ...instance('A'), ...expected });
      expect(told).toEqual([odd(words)]);
    },
  );

  test('warns about the first field of the wrong type, and counts the others', async () => {
    const { told } = await read({ ...instance('A'), name: 1, ip_address: 2, offer: 'x' });
    expect(told).toEqual([odd('data.name is not of type string', ' (and 2 more)')]);
  });
});

function plain(text: string, code = 200): Step {
  return (_request, response) => {
    response.writeHead(code);
    response.end(text);
  };
}

test.each<[string, Step, string]>([
  ['no data', json(200, { status: 'success' }), 'data is missing.'],
  ['a list', json(200, [1]), 'it is not a JSON object.'],
  ['a number', json(200, 1), 'it is not a JSON object.'],
  ['null', json(200, null), 'it is not a JSON object.'],
  ['a page in a text', plain('no <html>'), 'it is not valid JSON.'],
  ['nothing', plain(''), 'it is empty.'],
  ['204', plain('', 204), 'it is empty.'],
  ['half JSON', plain('{"data":{"id":"secret-value'), 'it is not valid JSON.'],
  ['HTML', plain('<html>secret-value'), 'it is an HTML page, perhaps from a proxy.'],
])('rejects a response with %s', async (_name, step, words) => {
  expect(await unclear(step)).toBe(words);
});

describe('DELETE', () => {
  test.each<[string, Step]>([
    ['200 without data', json(200, { status: 'success', code: 200 })],
    ['200 with data', data(null)],
    ['200 with a text code', json(200, { code: 'DELETED' })],
    ['200 with codes below 400', json(200, { code: 399, statusCode: 399 })],
    ['204 without a body', plain('', 204)],
  ])('accepts %s as a successful deletion', async (_name, step) => {
    await expect(apiFor((await scripted(step)).url).sshKeys.delete('k')).resolves.toBeUndefined();
  });

  test.each<[string, Step, string]>([
    ['an HTML sign-in page', plain(' <html>'), 'it is an HTML page, perhaps from a proxy.'],
    ['the status "error"', json(200, { status: 'error' }), 'it reports an error.'],
    ['code 400', json(200, { status: 'success', code: 400 }), 'it reports an error.'],
    ['statusCode 400', json(200, { statusCode: 400 }), 'it reports an error.'],
  ])('rejects %s as the response to a deletion', async (_name, step, why) => {
    const api = apiFor((await scripted(step)).url);
    const { failure, message } = await failureOf(api.sshKeys.delete('k'));
    expect([failure, message]).toEqual([
      'notUnderstood',
      `Could not read the response to DELETE /ssh-keys/{id}: ${why}`,
    ]);
  });
});

describe('reading the meta of a page', () => {
  const events = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `e${at}` }));
  const meta = async (
    value: unknown,
    count: number,
    query: { page?: number; limit?: number } = {},
  ) => {
    const step = json(200, {
      data: events(count),
      ...(value === undefined ? {} : { meta: value }),
    });
    return (await apiFor((await scripted(step)).url).instances.events(ID, query)).meta;
  };

  test.each<[unknown, number, { page?: number; limit?: number }, unknown[]]>([
    [{ total: 0, page: 1, limit: 10, total_pages: 0 }, 0, {}, [0, true, 1, 10, 0]],
    [{ total: 250, page: 1, limit: 99, total_pages: 7 }, 9, { limit: 1000 }, [250, true, 1, 99, 7]],
    [{ total: 41, limit: null }, 10, {}, [41, true, 1, 10, 5]],
    [{ total: 2, page: 2, limit: 0 }, 1, {}, [2, true, 2, 0, 2]],
    [{ total: null }, 10, {}, [10, false, 1, 10, 2]],
    [undefined, 10, {}, [10, false, 1, 10, 2]],
    [undefined, 3, {}, [3, false, 1, 10, 1]],
    [null, 5, { page: 3, limit: 20 }, [45, false, 3, 20, 3]],
    [undefined, 0, {}, [0, false, 1, 10, 0]],
    [undefined, 0, { page: 2 }, [10, false, 2, 10, 1]],
    [undefined, 50, {}, [50, false, 1, 10, 1]],
  ])('completes the meta %j of %i rows, after the query %j', async (value, count, query, whole) => {
    const { total, isCounted, page, limit, total_pages } = await meta(value, count, query);
    expect([total, isCounted, page, limit, total_pages]).toEqual(whole);
  });

  test.each(['total', 'page', 'limit', 'total_pages'])('fails if %s is a text', async (field) => {
    expect((await failureOf(meta({ [field]: '41' }, 1))).message).toBe(
      `Could not read the response to GET /instances/{id}/events: meta.${field} is not of type number.`,
    );
  });
});

test("sets the service's time only from valid responses about this instance", async () => {
  const dates: (string | undefined)[] = [];
  const day = (date: number) => new Date(Date.UTC(2026, 0, date)).toUTCString();
  const dated =
    (date: number, step: Step): Step =>
    (seen, response) => {
      response.setHeader('date', day(date));
      step(seen, response);
    };
  const page: Step = (_seen, response) => void response.end('<html>Sign in</html>');
  const another = data({ id: 'ffffffff-8a51-4e0b-9c39-1f6f6a2b7d10', status: 'ACTIVE' });
  const steps = [json(404, {}), page, another, json(502, {}), data(instance('ACTIVE'))];
  const { url } = await scripted(...steps.map((step, at) => dated(at + 1, step)));
  const api = apiFor(url, { onDate: (date) => void dates.push(date) });
  for (const _ of ['404', 'page', 'another']) await failureOf(api.instances.get(ID));
  await api.instances.get(ID);
  expect(dates).toEqual([day(5)]);
});
