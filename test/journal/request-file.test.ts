import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IntentRecord, OutcomeRecord } from '../../src/journal/record.ts';
import {
  OUTCOME_ROOM,
  outcomeOffset,
  outcomeRoom,
  parseRequest,
  requestText,
} from '../../src/journal/request-file.ts';

const intent: IntentRecord = {
  version: 1,
  uid: '2026-01-15T120000.000Z-3f0c5d9e-1111-4222-8333-444455556666',
  operation: 'create',
  name: 'машина "x"\n',
  asked_at: '2026-01-15T12:00:00.000Z',
  service: 'https://api.example.com',
  account: null,
  key: 'key-0123',
  offer_id: 'offer-1',
  body: { docker_config: { env: [{ key: 'A', value: '********' }] } },
  masked: true,
  body_hash: 'ab',
  process: { pid: 1 },
};
const outcome: OutcomeRecord = { kind: 'rented', at: '2026-01-15T12:00:01.000Z', id: 'id-1' };

describe('the file of a request', () => {
  test('is read back with and without its outcome', () => {
    expect(parseRequest(requestText(intent))).toEqual({ intent, outcome: undefined });
    expect(parseRequest(requestText(intent, outcome))).toEqual({ intent, outcome });
  });

  test('has one size, and the outcome only takes the place that was kept for it', () => {
    const before = Buffer.from(requestText(intent));
    const after = Buffer.from(requestText(intent, outcome));
    expect(after.length).toBe(before.length);
    const offset = outcomeOffset(intent);
    expect(after.subarray(0, offset)).toEqual(before.subarray(0, offset));
    expect(before.length - offset).toBe(OUTCOME_ROOM);
  });

  test('torn at any byte it is no request, or the request without an outcome, never a wrong one', () => {
    const text = Buffer.from(requestText(intent, outcome));
    for (let length = 0; length < text.length; length += 1) {
      const read = parseRequest(text.subarray(0, length).toString('utf8'));
      if (read === undefined) {
        expect(length).toBeLessThanOrEqual(outcomeOffset(intent));
      } else {
        expect(read.intent).toEqual(intent);
        expect([undefined, outcome]).toContainEqual(read.outcome);
      }
    }
  });

  test('with an outcome written up to any byte it has none yet', () => {
    const room = Buffer.from(outcomeRoom(outcome));
    const end = room.toString('utf8').trimEnd().length;
    for (let written = 0; written < end; written += 1) {
      const bytes = Buffer.from(requestText(intent));
      room.copy(bytes, outcomeOffset(intent), 0, written);
      expect(parseRequest(bytes.toString('utf8'))).toEqual({ intent, outcome: undefined });
    }
  });

  test('a bit that fell over spoils its own line', () => {
    const text = Buffer.from(requestText(intent, outcome));
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.nat(7), (at, bit) => {
        const bytes = Buffer.from(text);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
        const read = parseRequest(bytes.toString('utf8'));
        if (read !== undefined) {
          expect(read.intent).toEqual(intent);
          expect([undefined, outcome]).toContainEqual(read.outcome);
        }
      }),
    );
  });

  test('any text at all is read without a failure', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(parseRequest(text)).toBeUndefined();
      }),
    );
  });

  test('an outcome with all that it can hold fits, its reason left out if need be', () => {
    const id = 'x'.repeat(200);
    const full: OutcomeRecord = {
      kind: 'unknown',
      at: outcome.at,
      candidates: [id, id, id],
      reason: 'ж'.repeat(160),
    };
    const read = parseRequest(requestText(intent, full));
    expect(read?.outcome).toEqual({ kind: 'unknown', at: outcome.at, candidates: [id, id, id] });
  });
});
